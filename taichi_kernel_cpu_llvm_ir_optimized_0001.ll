; ModuleID = 'kernel'
source_filename = "kernel"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

%struct.RuntimeContext = type { i8*, %struct.LLVMRuntime*, i32, i64* }
%struct.LLVMRuntime = type { %struct.PreallocatedMemoryChunk, %struct.PreallocatedMemoryChunk, i8* (i8*, i64, i64)*, void (i8*)*, void (i8*, ...)*, i32 (i8*, i64, i8*, %struct.__va_list_tag*)*, i8*, [512 x i8*], [512 x i64], i8*, void (i8*, i32, i32, i8*, void (i8*, i32, i32)*)*, [1024 x %struct.ListManager*], [1024 x %struct.NodeManager*], [1024 x i8*], i8*, %struct.RandState*, i8*, void (i8*, i8*)*, void (i8*)*, [2048 x i8], [32 x i64], i32, i64, i8*, i32, i32, i64 }
%struct.PreallocatedMemoryChunk = type { i8*, i8*, i64 }
%struct.__va_list_tag = type { i32, i32, i8*, i8* }
%struct.ListManager = type { [131072 x i8*], i64, i64, i32, i32, i32, %struct.LLVMRuntime* }
%struct.NodeManager = type <{ %struct.LLVMRuntime*, i32, i32, i32, i32, %struct.ListManager*, %struct.ListManager*, %struct.ListManager*, i32, [4 x i8] }>
%struct.RandState = type { i32, i32, i32, i32, i32 }

; Function Attrs: nofree nosync nounwind
define void @early_returns_in_branches_adjoint_c1_0_kernel_0_serial(%struct.RuntimeContext* nocapture readonly %context) local_unnamed_addr #0 {
entry:
  %0 = bitcast %struct.RuntimeContext* %context to { { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* } }**
  %1 = load { { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* } }*, { { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* } }** %0, align 8
  %2 = getelementptr { { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* } }, { { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* } }* %1, i64 0, i32 0, i32 0, i32 0
  %3 = load i32, i32* %2, align 4
  %4 = getelementptr { { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* } }, { { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* } }* %1, i64 0, i32 0, i32 1
  %5 = load float*, float** %4, align 8
  %6 = getelementptr { { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* } }, { { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* } }* %1, i64 0, i32 1, i32 1
  %7 = load float*, float** %6, align 8
  %8 = getelementptr { { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* } }, { { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* } }* %1, i64 0, i32 2, i32 1
  %9 = load float*, float** %8, align 8
  %10 = icmp sgt i32 %3, 0
  br i1 %10, label %for_loop_body.preheader.i, label %early_returns_in_branches_adjoint_body_1048577_0.exit

for_loop_body.preheader.i:                        ; preds = %entry
  %wide.trip.count.i = zext i32 %3 to i64
  %min.iters.check = icmp ult i32 %3, 8
  br i1 %min.iters.check, label %for_loop_body.i.preheader, label %vector.memcheck

vector.memcheck:                                  ; preds = %for_loop_body.preheader.i
  %scevgep = getelementptr float, float* %7, i64 %wide.trip.count.i
  %scevgep5 = getelementptr float, float* %9, i64 %wide.trip.count.i
  %scevgep7 = getelementptr float, float* %5, i64 %wide.trip.count.i
  %bound0 = icmp ult float* %7, %scevgep5
  %bound1 = icmp ult float* %9, %scevgep
  %found.conflict = and i1 %bound0, %bound1
  %bound09 = icmp ult float* %7, %scevgep7
  %bound110 = icmp ult float* %5, %scevgep
  %found.conflict11 = and i1 %bound09, %bound110
  %conflict.rdx = or i1 %found.conflict, %found.conflict11
  %bound012 = icmp ult float* %9, %scevgep7
  %bound113 = icmp ult float* %5, %scevgep5
  %found.conflict14 = and i1 %bound012, %bound113
  %conflict.rdx15 = or i1 %conflict.rdx, %found.conflict14
  br i1 %conflict.rdx15, label %for_loop_body.i.preheader, label %vector.ph

vector.ph:                                        ; preds = %vector.memcheck
  %n.vec = and i64 %wide.trip.count.i, 4294967288
  %11 = add nsw i64 %n.vec, -8
  %12 = lshr exact i64 %11, 3
  %13 = add nuw nsw i64 %12, 1
  %xtraiter30 = and i64 %13, 1
  %14 = icmp eq i64 %11, 0
  br i1 %14, label %middle.block.unr-lcssa, label %vector.ph.new

vector.ph.new:                                    ; preds = %vector.ph
  %unroll_iter = and i64 %13, 4611686018427387902
  %scevgep68 = getelementptr float, float* %5, i64 8
  %scevgep74 = getelementptr float, float* %9, i64 8
  %scevgep95 = getelementptr float, float* %7, i64 8
  br label %vector.body

vector.body:                                      ; preds = %vector.body, %vector.ph.new
  %lsr.iv106 = phi i64 [ %lsr.iv.next107, %vector.body ], [ %unroll_iter, %vector.ph.new ]
  %index = phi i64 [ 0, %vector.ph.new ], [ %index.next.1, %vector.body ]
  %scevgep71 = getelementptr float, float* %scevgep68, i64 %index
  %scevgep7172 = bitcast float* %scevgep71 to <8 x float>*
  %scevgep73 = getelementptr <8 x float>, <8 x float>* %scevgep7172, i64 -1
  %wide.load = load <8 x float>, <8 x float>* %scevgep73, align 4, !alias.scope !6
  %15 = fcmp reassoc ninf nsz ogt <8 x float> %wide.load, <float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00>
  %16 = fcmp reassoc ninf nsz ogt <8 x float> %wide.load, zeroinitializer
  %17 = fmul reassoc ninf nsz <8 x float> %wide.load, <float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01>
  %18 = fcmp reassoc ninf nsz olt <8 x float> %wide.load, <float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02>
  %19 = select <8 x i1> %18, <8 x float> <float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02>, <8 x float> %wide.load
  %20 = fcmp reassoc ninf nsz ogt <8 x float> %19, <float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01>
  %21 = select <8 x i1> %20, <8 x float> <float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01>, <8 x float> %19
  %22 = fmul reassoc ninf nsz <8 x float> %21, <float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000>
  %23 = fadd reassoc ninf nsz <8 x float> %22, <float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01>
  %24 = call reassoc ninf nsz <8 x float> @llvm.floor.v8f32(<8 x float> %23)
  %25 = fmul reassoc ninf nsz <8 x float> %24, <float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000>
  %26 = fsub reassoc ninf nsz <8 x float> %21, %25
  %27 = fcmp reassoc ninf nsz olt <8 x float> %26, <float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000>
  %28 = select <8 x i1> %27, <8 x float> <float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000>, <8 x float> %26
  %29 = fmul reassoc ninf nsz <8 x float> %24, <float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000>
  %30 = fsub reassoc ninf nsz <8 x float> %28, %29
  %31 = fmul reassoc ninf nsz <8 x float> %30, <float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000>
  %32 = fadd reassoc ninf nsz <8 x float> %31, <float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000>
  %33 = fmul reassoc ninf nsz <8 x float> %32, %30
  %34 = fadd reassoc ninf nsz <8 x float> %33, <float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000>
  %35 = fmul reassoc ninf nsz <8 x float> %34, %30
  %36 = fadd reassoc ninf nsz <8 x float> %35, <float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000>
  %37 = fmul reassoc ninf nsz <8 x float> %36, %30
  %38 = fadd reassoc ninf nsz <8 x float> %37, <float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01>
  %39 = fmul reassoc ninf nsz <8 x float> %30, %30
  %40 = fmul reassoc ninf nsz <8 x float> %39, %38
  %41 = fsub reassoc ninf nsz <8 x float> %40, %29
  %42 = fptosi <8 x float> %24 to <8 x i32>
  %43 = fcmp reassoc ninf nsz olt <8 x float> %41, <float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000>
  %44 = select <8 x i1> %43, <8 x float> <float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000>, <8 x float> %41
  %45 = fadd reassoc ninf nsz <8 x float> %28, <float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00>
  %46 = fadd reassoc ninf nsz <8 x float> %45, %44
  %47 = add <8 x i32> %42, <i32 124, i32 124, i32 124, i32 124, i32 124, i32 124, i32 124, i32 124>
  %48 = call <8 x i32> @llvm.smin.v8i32(<8 x i32> %47, <8 x i32> zeroinitializer)
  %49 = bitcast <8 x float> %46 to <8 x i32>
  %50 = sub <8 x i32> %42, %48
  %51 = shl <8 x i32> %50, <i32 23, i32 23, i32 23, i32 23, i32 23, i32 23, i32 23, i32 23>
  %52 = add <8 x i32> %51, %49
  %53 = bitcast <8 x i32> %52 to <8 x float>
  %54 = shl <8 x i32> %48, <i32 23, i32 23, i32 23, i32 23, i32 23, i32 23, i32 23, i32 23>
  %55 = add <8 x i32> %54, <i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216>
  %56 = bitcast <8 x i32> %55 to <8 x float>
  %57 = fmul reassoc ninf nsz <8 x float> %53, %56
  %58 = bitcast <8 x float> %wide.load to <8 x i32>
  %59 = bitcast <8 x float> %57 to <8 x i32>
  %60 = icmp sgt <8 x i32> %58, <i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335>
  %61 = select <8 x i1> %60, <8 x i32> <i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040>, <8 x i32> %59
  %62 = and <8 x i32> %58, <i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647>
  %63 = icmp ugt <8 x i32> %62, <i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040>
  %64 = select <8 x i1> %63, <8 x i32> %58, <8 x i32> %61
  %65 = bitcast <8 x i32> %64 to <8 x float>
  %66 = fcmp reassoc ninf nsz ogt <8 x float> %65, <float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00>
  %67 = select <8 x i1> %66, <8 x float> %65, <8 x float> %17
  %68 = fmul reassoc ninf nsz <8 x float> %wide.load, %wide.load
  %69 = xor <8 x i1> %15, <i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true>
  %70 = select <8 x i1> %15, <8 x i1> <i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true>, <8 x i1> %16
  %71 = xor <8 x i1> %70, <i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true>
  %72 = select <8 x i1> %69, <8 x i1> %16, <8 x i1> zeroinitializer
  %predphi17 = select <8 x i1> %72, <8 x float> %67, <8 x float> %17
  %predphi18 = select <8 x i1> %15, <8 x float> %68, <8 x float> %predphi17
  %73 = fcmp reassoc ninf nsz ogt <8 x float> %17, <float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00>
  %74 = fcmp reassoc ninf nsz ogt <8 x float> %17, zeroinitializer
  %75 = fmul reassoc ninf nsz <8 x float> %wide.load, <float 2.500000e-01, float 2.500000e-01, float 2.500000e-01, float 2.500000e-01, float 2.500000e-01, float 2.500000e-01, float 2.500000e-01, float 2.500000e-01>
  %76 = or <8 x i1> %72, %71
  %77 = or <8 x i1> %76, %15
  %78 = xor <8 x i1> %73, <i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true>
  %79 = select <8 x i1> %77, <8 x i1> %78, <8 x i1> zeroinitializer
  %80 = xor <8 x i1> %74, <i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true>
  %81 = select <8 x i1> %79, <8 x i1> %80, <8 x i1> zeroinitializer
  %scevgep86 = getelementptr float, float* %scevgep74, i64 %index
  %scevgep8687 = bitcast float* %scevgep86 to <8 x float>*
  %scevgep88 = getelementptr <8 x float>, <8 x float>* %scevgep8687, i64 -1
  %wide.masked.load = call <8 x float> @llvm.masked.load.v8f32.p0v8f32(<8 x float>* %scevgep88, i32 4, <8 x i1> %81, <8 x float> poison), !alias.scope !9, !noalias !6
  %82 = fmul reassoc ninf nsz <8 x float> %75, %wide.masked.load
  %83 = fmul reassoc ninf nsz <8 x float> %predphi18, <float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01>
  %84 = fmul reassoc ninf nsz <8 x float> %83, %wide.masked.load
  %85 = fcmp reassoc ninf nsz olt <8 x float> %17, <float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02>
  %86 = select <8 x i1> %85, <8 x float> <float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02>, <8 x float> %17
  %87 = fcmp reassoc ninf nsz ogt <8 x float> %86, <float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01>
  %88 = select <8 x i1> %87, <8 x float> <float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01>, <8 x float> %86
  %89 = fmul reassoc ninf nsz <8 x float> %88, <float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000>
  %90 = fadd reassoc ninf nsz <8 x float> %89, <float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01>
  %91 = call reassoc ninf nsz <8 x float> @llvm.floor.v8f32(<8 x float> %90)
  %92 = fmul reassoc ninf nsz <8 x float> %91, <float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000>
  %93 = fsub reassoc ninf nsz <8 x float> %88, %92
  %94 = fcmp reassoc ninf nsz olt <8 x float> %93, <float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000>
  %95 = select <8 x i1> %94, <8 x float> <float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000>, <8 x float> %93
  %96 = fmul reassoc ninf nsz <8 x float> %91, <float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000>
  %97 = fsub reassoc ninf nsz <8 x float> %95, %96
  %98 = fmul reassoc ninf nsz <8 x float> %97, <float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000>
  %99 = fadd reassoc ninf nsz <8 x float> %98, <float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000>
  %100 = fmul reassoc ninf nsz <8 x float> %99, %97
  %101 = fadd reassoc ninf nsz <8 x float> %100, <float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000>
  %102 = fmul reassoc ninf nsz <8 x float> %101, %97
  %103 = fadd reassoc ninf nsz <8 x float> %102, <float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000>
  %104 = fmul reassoc ninf nsz <8 x float> %103, %97
  %105 = fadd reassoc ninf nsz <8 x float> %104, <float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01>
  %106 = fmul reassoc ninf nsz <8 x float> %97, %97
  %107 = fmul reassoc ninf nsz <8 x float> %106, %105
  %108 = fsub reassoc ninf nsz <8 x float> %107, %96
  %109 = fptosi <8 x float> %91 to <8 x i32>
  %110 = fcmp reassoc ninf nsz olt <8 x float> %108, <float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000>
  %111 = select <8 x i1> %110, <8 x float> <float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000>, <8 x float> %108
  %112 = fadd reassoc ninf nsz <8 x float> %95, <float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00>
  %113 = fadd reassoc ninf nsz <8 x float> %112, %111
  %114 = add <8 x i32> %109, <i32 124, i32 124, i32 124, i32 124, i32 124, i32 124, i32 124, i32 124>
  %115 = call <8 x i32> @llvm.smin.v8i32(<8 x i32> %114, <8 x i32> zeroinitializer)
  %116 = bitcast <8 x float> %113 to <8 x i32>
  %117 = sub <8 x i32> %109, %115
  %118 = shl <8 x i32> %117, <i32 23, i32 23, i32 23, i32 23, i32 23, i32 23, i32 23, i32 23>
  %119 = add <8 x i32> %118, %116
  %120 = bitcast <8 x i32> %119 to <8 x float>
  %121 = shl <8 x i32> %115, <i32 23, i32 23, i32 23, i32 23, i32 23, i32 23, i32 23, i32 23>
  %122 = add <8 x i32> %121, <i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216>
  %123 = bitcast <8 x i32> %122 to <8 x float>
  %124 = fmul reassoc ninf nsz <8 x float> %120, %123
  %125 = bitcast <8 x float> %17 to <8 x i32>
  %126 = bitcast <8 x float> %124 to <8 x i32>
  %127 = icmp sgt <8 x i32> %125, <i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335>
  %128 = select <8 x i1> %127, <8 x i32> <i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040>, <8 x i32> %126
  %129 = and <8 x i32> %125, <i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647>
  %130 = icmp ugt <8 x i32> %129, <i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040>
  %131 = select <8 x i1> %130, <8 x i32> %125, <8 x i32> %128
  %132 = bitcast <8 x i32> %131 to <8 x float>
  %133 = fcmp reassoc ninf nsz ogt <8 x float> %132, <float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00>
  %134 = select <8 x i1> %133, <8 x float> %132, <8 x float> %75
  %135 = select <8 x i1> %79, <8 x i1> %74, <8 x i1> zeroinitializer
  %wide.masked.load19 = call <8 x float> @llvm.masked.load.v8f32.p0v8f32(<8 x float>* %scevgep88, i32 4, <8 x i1> %135, <8 x float> poison), !alias.scope !9, !noalias !6
  %136 = fmul reassoc ninf nsz <8 x float> %wide.masked.load19, %134
  %137 = fmul reassoc ninf nsz <8 x float> %wide.masked.load19, %predphi18
  %138 = fmul reassoc ninf nsz <8 x float> %137, <float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01>
  %139 = select <8 x i1> %133, <8 x float> zeroinitializer, <8 x float> %138
  %140 = select <8 x i1> %133, <8 x float> %137, <8 x float> zeroinitializer
  %141 = fmul reassoc ninf nsz <8 x float> %140, %132
  %142 = fcmp reassoc ninf nsz oeq <8 x float> %140, zeroinitializer
  %143 = bitcast <8 x float> %141 to <8 x i32>
  %144 = and <8 x i32> %143, <i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647>
  %145 = icmp ugt <8 x i32> %144, <i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040>
  %146 = and <8 x i1> %142, %145
  %147 = select <8 x i1> %146, <8 x float> zeroinitializer, <8 x float> %141
  %148 = fadd reassoc ninf nsz <8 x float> %147, %139
  %149 = select <8 x i1> %77, <8 x i1> %73, <8 x i1> zeroinitializer
  %wide.masked.load20 = call <8 x float> @llvm.masked.load.v8f32.p0v8f32(<8 x float>* %scevgep88, i32 4, <8 x i1> %149, <8 x float> poison), !alias.scope !9, !noalias !6
  %150 = fmul reassoc ninf nsz <8 x float> %17, %17
  %151 = fmul reassoc ninf nsz <8 x float> %150, %wide.masked.load20
  %152 = fmul reassoc ninf nsz <8 x float> %wide.masked.load20, %17
  %153 = fmul reassoc ninf nsz <8 x float> %152, <float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00>
  %154 = fmul reassoc ninf nsz <8 x float> %153, %predphi18
  %predphi21 = select <8 x i1> %135, <8 x float> %136, <8 x float> %151
  %predphi22 = select <8 x i1> %81, <8 x float> %82, <8 x float> %predphi21
  %predphi25 = select <8 x i1> %135, <8 x float> %148, <8 x float> %154
  %predphi26 = select <8 x i1> %81, <8 x float> %84, <8 x float> %predphi25
  %155 = fmul reassoc ninf nsz <8 x float> %predphi22, <float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01>
  %156 = select <8 x i1> %66, <8 x float> %predphi22, <8 x float> zeroinitializer
  %157 = select <8 x i1> %66, <8 x float> zeroinitializer, <8 x float> %155
  %158 = fmul reassoc ninf nsz <8 x float> %156, %65
  %159 = fcmp reassoc ninf nsz oeq <8 x float> %156, zeroinitializer
  %160 = bitcast <8 x float> %158 to <8 x i32>
  %161 = and <8 x i32> %160, <i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647>
  %162 = icmp ugt <8 x i32> %161, <i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040>
  %163 = and <8 x i1> %159, %162
  %164 = select <8 x i1> %163, <8 x float> zeroinitializer, <8 x float> %158
  %165 = fadd reassoc ninf nsz <8 x float> %164, %157
  %166 = fmul reassoc ninf nsz <8 x float> %wide.load, <float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00>
  %167 = fmul reassoc ninf nsz <8 x float> %166, %predphi22
  %168 = select <8 x i1> %76, <8 x i1> %16, <8 x i1> zeroinitializer
  %169 = xor <8 x i1> %16, <i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true>
  %170 = select <8 x i1> %76, <8 x i1> %169, <8 x i1> zeroinitializer
  %predphi27 = select <8 x i1> %168, <8 x float> %165, <8 x float> %167
  %predphi28 = select <8 x i1> %170, <8 x float> %155, <8 x float> %predphi27
  %scevgep100 = getelementptr float, float* %scevgep95, i64 %index
  %scevgep100101 = bitcast float* %scevgep100 to <8 x float>*
  %scevgep102 = getelementptr <8 x float>, <8 x float>* %scevgep100101, i64 -1
  %wide.load29 = load <8 x float>, <8 x float>* %scevgep102, align 4, !alias.scope !11, !noalias !13
  %171 = fmul reassoc ninf nsz <8 x float> %predphi26, <float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01>
  %172 = fadd reassoc ninf nsz <8 x float> %predphi28, %171
  %173 = fadd reassoc ninf nsz <8 x float> %172, %wide.load29
  store <8 x float> %173, <8 x float>* %scevgep102, align 4, !alias.scope !11, !noalias !13
  store <8 x float> zeroinitializer, <8 x float>* %scevgep88, align 4
  %wide.load.1 = load <8 x float>, <8 x float>* %scevgep7172, align 4, !alias.scope !6
  %174 = fcmp reassoc ninf nsz ogt <8 x float> %wide.load.1, <float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00>
  %175 = fcmp reassoc ninf nsz ogt <8 x float> %wide.load.1, zeroinitializer
  %176 = fmul reassoc ninf nsz <8 x float> %wide.load.1, <float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01>
  %177 = fcmp reassoc ninf nsz olt <8 x float> %wide.load.1, <float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02>
  %178 = select <8 x i1> %177, <8 x float> <float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02>, <8 x float> %wide.load.1
  %179 = fcmp reassoc ninf nsz ogt <8 x float> %178, <float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01>
  %180 = select <8 x i1> %179, <8 x float> <float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01>, <8 x float> %178
  %181 = fmul reassoc ninf nsz <8 x float> %180, <float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000>
  %182 = fadd reassoc ninf nsz <8 x float> %181, <float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01>
  %183 = call reassoc ninf nsz <8 x float> @llvm.floor.v8f32(<8 x float> %182)
  %184 = fmul reassoc ninf nsz <8 x float> %183, <float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000>
  %185 = fsub reassoc ninf nsz <8 x float> %180, %184
  %186 = fcmp reassoc ninf nsz olt <8 x float> %185, <float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000>
  %187 = select <8 x i1> %186, <8 x float> <float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000>, <8 x float> %185
  %188 = fmul reassoc ninf nsz <8 x float> %183, <float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000>
  %189 = fsub reassoc ninf nsz <8 x float> %187, %188
  %190 = fmul reassoc ninf nsz <8 x float> %189, <float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000>
  %191 = fadd reassoc ninf nsz <8 x float> %190, <float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000>
  %192 = fmul reassoc ninf nsz <8 x float> %191, %189
  %193 = fadd reassoc ninf nsz <8 x float> %192, <float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000>
  %194 = fmul reassoc ninf nsz <8 x float> %193, %189
  %195 = fadd reassoc ninf nsz <8 x float> %194, <float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000>
  %196 = fmul reassoc ninf nsz <8 x float> %195, %189
  %197 = fadd reassoc ninf nsz <8 x float> %196, <float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01>
  %198 = fmul reassoc ninf nsz <8 x float> %189, %189
  %199 = fmul reassoc ninf nsz <8 x float> %198, %197
  %200 = fsub reassoc ninf nsz <8 x float> %199, %188
  %201 = fptosi <8 x float> %183 to <8 x i32>
  %202 = fcmp reassoc ninf nsz olt <8 x float> %200, <float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000>
  %203 = select <8 x i1> %202, <8 x float> <float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000>, <8 x float> %200
  %204 = fadd reassoc ninf nsz <8 x float> %187, <float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00>
  %205 = fadd reassoc ninf nsz <8 x float> %204, %203
  %206 = add <8 x i32> %201, <i32 124, i32 124, i32 124, i32 124, i32 124, i32 124, i32 124, i32 124>
  %207 = call <8 x i32> @llvm.smin.v8i32(<8 x i32> %206, <8 x i32> zeroinitializer)
  %208 = bitcast <8 x float> %205 to <8 x i32>
  %209 = sub <8 x i32> %201, %207
  %210 = shl <8 x i32> %209, <i32 23, i32 23, i32 23, i32 23, i32 23, i32 23, i32 23, i32 23>
  %211 = add <8 x i32> %210, %208
  %212 = bitcast <8 x i32> %211 to <8 x float>
  %213 = shl <8 x i32> %207, <i32 23, i32 23, i32 23, i32 23, i32 23, i32 23, i32 23, i32 23>
  %214 = add <8 x i32> %213, <i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216>
  %215 = bitcast <8 x i32> %214 to <8 x float>
  %216 = fmul reassoc ninf nsz <8 x float> %212, %215
  %217 = bitcast <8 x float> %wide.load.1 to <8 x i32>
  %218 = bitcast <8 x float> %216 to <8 x i32>
  %219 = icmp sgt <8 x i32> %217, <i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335>
  %220 = select <8 x i1> %219, <8 x i32> <i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040>, <8 x i32> %218
  %221 = and <8 x i32> %217, <i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647>
  %222 = icmp ugt <8 x i32> %221, <i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040>
  %223 = select <8 x i1> %222, <8 x i32> %217, <8 x i32> %220
  %224 = bitcast <8 x i32> %223 to <8 x float>
  %225 = fcmp reassoc ninf nsz ogt <8 x float> %224, <float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00>
  %226 = select <8 x i1> %225, <8 x float> %224, <8 x float> %176
  %227 = fmul reassoc ninf nsz <8 x float> %wide.load.1, %wide.load.1
  %228 = xor <8 x i1> %174, <i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true>
  %229 = select <8 x i1> %174, <8 x i1> <i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true>, <8 x i1> %175
  %230 = xor <8 x i1> %229, <i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true>
  %231 = select <8 x i1> %228, <8 x i1> %175, <8 x i1> zeroinitializer
  %predphi17.1 = select <8 x i1> %231, <8 x float> %226, <8 x float> %176
  %predphi18.1 = select <8 x i1> %174, <8 x float> %227, <8 x float> %predphi17.1
  %232 = fcmp reassoc ninf nsz ogt <8 x float> %176, <float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00>
  %233 = fcmp reassoc ninf nsz ogt <8 x float> %176, zeroinitializer
  %234 = fmul reassoc ninf nsz <8 x float> %wide.load.1, <float 2.500000e-01, float 2.500000e-01, float 2.500000e-01, float 2.500000e-01, float 2.500000e-01, float 2.500000e-01, float 2.500000e-01, float 2.500000e-01>
  %235 = or <8 x i1> %231, %230
  %236 = or <8 x i1> %235, %174
  %237 = xor <8 x i1> %232, <i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true>
  %238 = select <8 x i1> %236, <8 x i1> %237, <8 x i1> zeroinitializer
  %239 = xor <8 x i1> %233, <i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true>
  %240 = select <8 x i1> %238, <8 x i1> %239, <8 x i1> zeroinitializer
  %wide.masked.load.1 = call <8 x float> @llvm.masked.load.v8f32.p0v8f32(<8 x float>* %scevgep8687, i32 4, <8 x i1> %240, <8 x float> poison), !alias.scope !9, !noalias !6
  %241 = fmul reassoc ninf nsz <8 x float> %234, %wide.masked.load.1
  %242 = fmul reassoc ninf nsz <8 x float> %predphi18.1, <float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01>
  %243 = fmul reassoc ninf nsz <8 x float> %242, %wide.masked.load.1
  %244 = fcmp reassoc ninf nsz olt <8 x float> %176, <float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02>
  %245 = select <8 x i1> %244, <8 x float> <float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02>, <8 x float> %176
  %246 = fcmp reassoc ninf nsz ogt <8 x float> %245, <float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01>
  %247 = select <8 x i1> %246, <8 x float> <float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01>, <8 x float> %245
  %248 = fmul reassoc ninf nsz <8 x float> %247, <float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000>
  %249 = fadd reassoc ninf nsz <8 x float> %248, <float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01>
  %250 = call reassoc ninf nsz <8 x float> @llvm.floor.v8f32(<8 x float> %249)
  %251 = fmul reassoc ninf nsz <8 x float> %250, <float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000>
  %252 = fsub reassoc ninf nsz <8 x float> %247, %251
  %253 = fcmp reassoc ninf nsz olt <8 x float> %252, <float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000>
  %254 = select <8 x i1> %253, <8 x float> <float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000>, <8 x float> %252
  %255 = fmul reassoc ninf nsz <8 x float> %250, <float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000>
  %256 = fsub reassoc ninf nsz <8 x float> %254, %255
  %257 = fmul reassoc ninf nsz <8 x float> %256, <float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000>
  %258 = fadd reassoc ninf nsz <8 x float> %257, <float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000>
  %259 = fmul reassoc ninf nsz <8 x float> %258, %256
  %260 = fadd reassoc ninf nsz <8 x float> %259, <float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000>
  %261 = fmul reassoc ninf nsz <8 x float> %260, %256
  %262 = fadd reassoc ninf nsz <8 x float> %261, <float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000>
  %263 = fmul reassoc ninf nsz <8 x float> %262, %256
  %264 = fadd reassoc ninf nsz <8 x float> %263, <float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01>
  %265 = fmul reassoc ninf nsz <8 x float> %256, %256
  %266 = fmul reassoc ninf nsz <8 x float> %265, %264
  %267 = fsub reassoc ninf nsz <8 x float> %266, %255
  %268 = fptosi <8 x float> %250 to <8 x i32>
  %269 = fcmp reassoc ninf nsz olt <8 x float> %267, <float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000>
  %270 = select <8 x i1> %269, <8 x float> <float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000>, <8 x float> %267
  %271 = fadd reassoc ninf nsz <8 x float> %254, <float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00>
  %272 = fadd reassoc ninf nsz <8 x float> %271, %270
  %273 = add <8 x i32> %268, <i32 124, i32 124, i32 124, i32 124, i32 124, i32 124, i32 124, i32 124>
  %274 = call <8 x i32> @llvm.smin.v8i32(<8 x i32> %273, <8 x i32> zeroinitializer)
  %275 = bitcast <8 x float> %272 to <8 x i32>
  %276 = sub <8 x i32> %268, %274
  %277 = shl <8 x i32> %276, <i32 23, i32 23, i32 23, i32 23, i32 23, i32 23, i32 23, i32 23>
  %278 = add <8 x i32> %277, %275
  %279 = bitcast <8 x i32> %278 to <8 x float>
  %280 = shl <8 x i32> %274, <i32 23, i32 23, i32 23, i32 23, i32 23, i32 23, i32 23, i32 23>
  %281 = add <8 x i32> %280, <i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216>
  %282 = bitcast <8 x i32> %281 to <8 x float>
  %283 = fmul reassoc ninf nsz <8 x float> %279, %282
  %284 = bitcast <8 x float> %176 to <8 x i32>
  %285 = bitcast <8 x float> %283 to <8 x i32>
  %286 = icmp sgt <8 x i32> %284, <i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335>
  %287 = select <8 x i1> %286, <8 x i32> <i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040>, <8 x i32> %285
  %288 = and <8 x i32> %284, <i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647>
  %289 = icmp ugt <8 x i32> %288, <i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040>
  %290 = select <8 x i1> %289, <8 x i32> %284, <8 x i32> %287
  %291 = bitcast <8 x i32> %290 to <8 x float>
  %292 = fcmp reassoc ninf nsz ogt <8 x float> %291, <float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00>
  %293 = select <8 x i1> %292, <8 x float> %291, <8 x float> %234
  %294 = select <8 x i1> %238, <8 x i1> %233, <8 x i1> zeroinitializer
  %wide.masked.load19.1 = call <8 x float> @llvm.masked.load.v8f32.p0v8f32(<8 x float>* %scevgep8687, i32 4, <8 x i1> %294, <8 x float> poison), !alias.scope !9, !noalias !6
  %295 = fmul reassoc ninf nsz <8 x float> %wide.masked.load19.1, %293
  %296 = fmul reassoc ninf nsz <8 x float> %wide.masked.load19.1, %predphi18.1
  %297 = fmul reassoc ninf nsz <8 x float> %296, <float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01>
  %298 = select <8 x i1> %292, <8 x float> zeroinitializer, <8 x float> %297
  %299 = select <8 x i1> %292, <8 x float> %296, <8 x float> zeroinitializer
  %300 = fmul reassoc ninf nsz <8 x float> %299, %291
  %301 = fcmp reassoc ninf nsz oeq <8 x float> %299, zeroinitializer
  %302 = bitcast <8 x float> %300 to <8 x i32>
  %303 = and <8 x i32> %302, <i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647>
  %304 = icmp ugt <8 x i32> %303, <i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040>
  %305 = and <8 x i1> %301, %304
  %306 = select <8 x i1> %305, <8 x float> zeroinitializer, <8 x float> %300
  %307 = fadd reassoc ninf nsz <8 x float> %306, %298
  %308 = select <8 x i1> %236, <8 x i1> %232, <8 x i1> zeroinitializer
  %wide.masked.load20.1 = call <8 x float> @llvm.masked.load.v8f32.p0v8f32(<8 x float>* %scevgep8687, i32 4, <8 x i1> %308, <8 x float> poison), !alias.scope !9, !noalias !6
  %309 = fmul reassoc ninf nsz <8 x float> %176, %176
  %310 = fmul reassoc ninf nsz <8 x float> %309, %wide.masked.load20.1
  %311 = fmul reassoc ninf nsz <8 x float> %wide.masked.load20.1, %176
  %312 = fmul reassoc ninf nsz <8 x float> %311, <float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00>
  %313 = fmul reassoc ninf nsz <8 x float> %312, %predphi18.1
  %predphi21.1 = select <8 x i1> %294, <8 x float> %295, <8 x float> %310
  %predphi22.1 = select <8 x i1> %240, <8 x float> %241, <8 x float> %predphi21.1
  %predphi25.1 = select <8 x i1> %294, <8 x float> %307, <8 x float> %313
  %predphi26.1 = select <8 x i1> %240, <8 x float> %243, <8 x float> %predphi25.1
  %314 = fmul reassoc ninf nsz <8 x float> %predphi22.1, <float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01>
  %315 = select <8 x i1> %225, <8 x float> %predphi22.1, <8 x float> zeroinitializer
  %316 = select <8 x i1> %225, <8 x float> zeroinitializer, <8 x float> %314
  %317 = fmul reassoc ninf nsz <8 x float> %315, %224
  %318 = fcmp reassoc ninf nsz oeq <8 x float> %315, zeroinitializer
  %319 = bitcast <8 x float> %317 to <8 x i32>
  %320 = and <8 x i32> %319, <i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647>
  %321 = icmp ugt <8 x i32> %320, <i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040>
  %322 = and <8 x i1> %318, %321
  %323 = select <8 x i1> %322, <8 x float> zeroinitializer, <8 x float> %317
  %324 = fadd reassoc ninf nsz <8 x float> %323, %316
  %325 = fmul reassoc ninf nsz <8 x float> %wide.load.1, <float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00>
  %326 = fmul reassoc ninf nsz <8 x float> %325, %predphi22.1
  %327 = select <8 x i1> %235, <8 x i1> %175, <8 x i1> zeroinitializer
  %328 = xor <8 x i1> %175, <i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true>
  %329 = select <8 x i1> %235, <8 x i1> %328, <8 x i1> zeroinitializer
  %predphi27.1 = select <8 x i1> %327, <8 x float> %324, <8 x float> %326
  %predphi28.1 = select <8 x i1> %329, <8 x float> %314, <8 x float> %predphi27.1
  %wide.load29.1 = load <8 x float>, <8 x float>* %scevgep100101, align 4, !alias.scope !11, !noalias !13
  %330 = fmul reassoc ninf nsz <8 x float> %predphi26.1, <float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01>
  %331 = fadd reassoc ninf nsz <8 x float> %predphi28.1, %330
  %332 = fadd reassoc ninf nsz <8 x float> %331, %wide.load29.1
  store <8 x float> %332, <8 x float>* %scevgep100101, align 4, !alias.scope !11, !noalias !13
  store <8 x float> zeroinitializer, <8 x float>* %scevgep8687, align 4
  %index.next.1 = add i64 %index, 16
  %lsr.iv.next107 = add i64 %lsr.iv106, -2
  %niter.ncmp.1 = icmp eq i64 %lsr.iv.next107, 0
  br i1 %niter.ncmp.1, label %middle.block.unr-lcssa.loopexit, label %vector.body, !llvm.loop !14

middle.block.unr-lcssa.loopexit:                  ; preds = %vector.body
  br label %middle.block.unr-lcssa

middle.block.unr-lcssa:                           ; preds = %middle.block.unr-lcssa.loopexit, %vector.ph
  %index.unr = phi i64 [ 0, %vector.ph ], [ %index.next.1, %middle.block.unr-lcssa.loopexit ]
  %lcmp.mod31.not = icmp eq i64 %xtraiter30, 0
  br i1 %lcmp.mod31.not, label %middle.block, label %vector.body.epil

vector.body.epil:                                 ; preds = %middle.block.unr-lcssa
  %333 = getelementptr float, float* %5, i64 %index.unr
  %334 = bitcast float* %333 to <8 x float>*
  %wide.load.epil = load <8 x float>, <8 x float>* %334, align 4, !alias.scope !6
  %335 = fcmp reassoc ninf nsz ogt <8 x float> %wide.load.epil, <float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00>
  %336 = fcmp reassoc ninf nsz ogt <8 x float> %wide.load.epil, zeroinitializer
  %337 = fmul reassoc ninf nsz <8 x float> %wide.load.epil, <float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01>
  %338 = fcmp reassoc ninf nsz olt <8 x float> %wide.load.epil, <float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02>
  %339 = select <8 x i1> %338, <8 x float> <float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02>, <8 x float> %wide.load.epil
  %340 = fcmp reassoc ninf nsz ogt <8 x float> %339, <float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01>
  %341 = select <8 x i1> %340, <8 x float> <float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01>, <8 x float> %339
  %342 = fmul reassoc ninf nsz <8 x float> %341, <float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000>
  %343 = fadd reassoc ninf nsz <8 x float> %342, <float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01>
  %344 = call reassoc ninf nsz <8 x float> @llvm.floor.v8f32(<8 x float> %343)
  %345 = fmul reassoc ninf nsz <8 x float> %344, <float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000>
  %346 = fsub reassoc ninf nsz <8 x float> %341, %345
  %347 = fcmp reassoc ninf nsz olt <8 x float> %346, <float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000>
  %348 = select <8 x i1> %347, <8 x float> <float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000>, <8 x float> %346
  %349 = fmul reassoc ninf nsz <8 x float> %344, <float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000>
  %350 = fsub reassoc ninf nsz <8 x float> %348, %349
  %351 = fmul reassoc ninf nsz <8 x float> %350, <float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000>
  %352 = fadd reassoc ninf nsz <8 x float> %351, <float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000>
  %353 = fmul reassoc ninf nsz <8 x float> %352, %350
  %354 = fadd reassoc ninf nsz <8 x float> %353, <float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000>
  %355 = fmul reassoc ninf nsz <8 x float> %354, %350
  %356 = fadd reassoc ninf nsz <8 x float> %355, <float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000>
  %357 = fmul reassoc ninf nsz <8 x float> %356, %350
  %358 = fadd reassoc ninf nsz <8 x float> %357, <float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01>
  %359 = fmul reassoc ninf nsz <8 x float> %350, %350
  %360 = fmul reassoc ninf nsz <8 x float> %359, %358
  %361 = fsub reassoc ninf nsz <8 x float> %360, %349
  %362 = fptosi <8 x float> %344 to <8 x i32>
  %363 = fcmp reassoc ninf nsz olt <8 x float> %361, <float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000>
  %364 = select <8 x i1> %363, <8 x float> <float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000>, <8 x float> %361
  %365 = fadd reassoc ninf nsz <8 x float> %348, <float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00>
  %366 = fadd reassoc ninf nsz <8 x float> %365, %364
  %367 = add <8 x i32> %362, <i32 124, i32 124, i32 124, i32 124, i32 124, i32 124, i32 124, i32 124>
  %368 = call <8 x i32> @llvm.smin.v8i32(<8 x i32> %367, <8 x i32> zeroinitializer)
  %369 = bitcast <8 x float> %366 to <8 x i32>
  %370 = sub <8 x i32> %362, %368
  %371 = shl <8 x i32> %370, <i32 23, i32 23, i32 23, i32 23, i32 23, i32 23, i32 23, i32 23>
  %372 = add <8 x i32> %371, %369
  %373 = bitcast <8 x i32> %372 to <8 x float>
  %374 = shl <8 x i32> %368, <i32 23, i32 23, i32 23, i32 23, i32 23, i32 23, i32 23, i32 23>
  %375 = add <8 x i32> %374, <i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216>
  %376 = bitcast <8 x i32> %375 to <8 x float>
  %377 = fmul reassoc ninf nsz <8 x float> %373, %376
  %378 = bitcast <8 x float> %wide.load.epil to <8 x i32>
  %379 = bitcast <8 x float> %377 to <8 x i32>
  %380 = icmp sgt <8 x i32> %378, <i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335>
  %381 = select <8 x i1> %380, <8 x i32> <i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040>, <8 x i32> %379
  %382 = and <8 x i32> %378, <i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647>
  %383 = icmp ugt <8 x i32> %382, <i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040>
  %384 = select <8 x i1> %383, <8 x i32> %378, <8 x i32> %381
  %385 = bitcast <8 x i32> %384 to <8 x float>
  %386 = fcmp reassoc ninf nsz ogt <8 x float> %385, <float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00>
  %387 = select <8 x i1> %386, <8 x float> %385, <8 x float> %337
  %388 = fmul reassoc ninf nsz <8 x float> %wide.load.epil, %wide.load.epil
  %389 = xor <8 x i1> %335, <i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true>
  %390 = select <8 x i1> %335, <8 x i1> <i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true>, <8 x i1> %336
  %391 = xor <8 x i1> %390, <i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true>
  %392 = select <8 x i1> %389, <8 x i1> %336, <8 x i1> zeroinitializer
  %predphi17.epil = select <8 x i1> %392, <8 x float> %387, <8 x float> %337
  %predphi18.epil = select <8 x i1> %335, <8 x float> %388, <8 x float> %predphi17.epil
  %393 = fcmp reassoc ninf nsz ogt <8 x float> %337, <float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00>
  %394 = fcmp reassoc ninf nsz ogt <8 x float> %337, zeroinitializer
  %395 = fmul reassoc ninf nsz <8 x float> %wide.load.epil, <float 2.500000e-01, float 2.500000e-01, float 2.500000e-01, float 2.500000e-01, float 2.500000e-01, float 2.500000e-01, float 2.500000e-01, float 2.500000e-01>
  %396 = getelementptr float, float* %9, i64 %index.unr
  %397 = or <8 x i1> %392, %391
  %398 = or <8 x i1> %397, %335
  %399 = xor <8 x i1> %393, <i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true>
  %400 = select <8 x i1> %398, <8 x i1> %399, <8 x i1> zeroinitializer
  %401 = xor <8 x i1> %394, <i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true>
  %402 = select <8 x i1> %400, <8 x i1> %401, <8 x i1> zeroinitializer
  %403 = bitcast float* %396 to <8 x float>*
  %wide.masked.load.epil = call <8 x float> @llvm.masked.load.v8f32.p0v8f32(<8 x float>* %403, i32 4, <8 x i1> %402, <8 x float> poison), !alias.scope !9, !noalias !6
  %404 = fmul reassoc ninf nsz <8 x float> %395, %wide.masked.load.epil
  %405 = fmul reassoc ninf nsz <8 x float> %predphi18.epil, <float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01>
  %406 = fmul reassoc ninf nsz <8 x float> %405, %wide.masked.load.epil
  %407 = fcmp reassoc ninf nsz olt <8 x float> %337, <float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02>
  %408 = select <8 x i1> %407, <8 x float> <float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02>, <8 x float> %337
  %409 = fcmp reassoc ninf nsz ogt <8 x float> %408, <float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01>
  %410 = select <8 x i1> %409, <8 x float> <float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01>, <8 x float> %408
  %411 = fmul reassoc ninf nsz <8 x float> %410, <float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000>
  %412 = fadd reassoc ninf nsz <8 x float> %411, <float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01>
  %413 = call reassoc ninf nsz <8 x float> @llvm.floor.v8f32(<8 x float> %412)
  %414 = fmul reassoc ninf nsz <8 x float> %413, <float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000>
  %415 = fsub reassoc ninf nsz <8 x float> %410, %414
  %416 = fcmp reassoc ninf nsz olt <8 x float> %415, <float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000>
  %417 = select <8 x i1> %416, <8 x float> <float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000>, <8 x float> %415
  %418 = fmul reassoc ninf nsz <8 x float> %413, <float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000>
  %419 = fsub reassoc ninf nsz <8 x float> %417, %418
  %420 = fmul reassoc ninf nsz <8 x float> %419, <float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000>
  %421 = fadd reassoc ninf nsz <8 x float> %420, <float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000>
  %422 = fmul reassoc ninf nsz <8 x float> %421, %419
  %423 = fadd reassoc ninf nsz <8 x float> %422, <float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000>
  %424 = fmul reassoc ninf nsz <8 x float> %423, %419
  %425 = fadd reassoc ninf nsz <8 x float> %424, <float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000>
  %426 = fmul reassoc ninf nsz <8 x float> %425, %419
  %427 = fadd reassoc ninf nsz <8 x float> %426, <float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01>
  %428 = fmul reassoc ninf nsz <8 x float> %419, %419
  %429 = fmul reassoc ninf nsz <8 x float> %428, %427
  %430 = fsub reassoc ninf nsz <8 x float> %429, %418
  %431 = fptosi <8 x float> %413 to <8 x i32>
  %432 = fcmp reassoc ninf nsz olt <8 x float> %430, <float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000>
  %433 = select <8 x i1> %432, <8 x float> <float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000>, <8 x float> %430
  %434 = fadd reassoc ninf nsz <8 x float> %417, <float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00>
  %435 = fadd reassoc ninf nsz <8 x float> %434, %433
  %436 = add <8 x i32> %431, <i32 124, i32 124, i32 124, i32 124, i32 124, i32 124, i32 124, i32 124>
  %437 = call <8 x i32> @llvm.smin.v8i32(<8 x i32> %436, <8 x i32> zeroinitializer)
  %438 = bitcast <8 x float> %435 to <8 x i32>
  %439 = sub <8 x i32> %431, %437
  %440 = shl <8 x i32> %439, <i32 23, i32 23, i32 23, i32 23, i32 23, i32 23, i32 23, i32 23>
  %441 = add <8 x i32> %440, %438
  %442 = bitcast <8 x i32> %441 to <8 x float>
  %443 = shl <8 x i32> %437, <i32 23, i32 23, i32 23, i32 23, i32 23, i32 23, i32 23, i32 23>
  %444 = add <8 x i32> %443, <i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216>
  %445 = bitcast <8 x i32> %444 to <8 x float>
  %446 = fmul reassoc ninf nsz <8 x float> %442, %445
  %447 = bitcast <8 x float> %337 to <8 x i32>
  %448 = bitcast <8 x float> %446 to <8 x i32>
  %449 = icmp sgt <8 x i32> %447, <i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335>
  %450 = select <8 x i1> %449, <8 x i32> <i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040>, <8 x i32> %448
  %451 = and <8 x i32> %447, <i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647>
  %452 = icmp ugt <8 x i32> %451, <i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040>
  %453 = select <8 x i1> %452, <8 x i32> %447, <8 x i32> %450
  %454 = bitcast <8 x i32> %453 to <8 x float>
  %455 = fcmp reassoc ninf nsz ogt <8 x float> %454, <float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00>
  %456 = select <8 x i1> %455, <8 x float> %454, <8 x float> %395
  %457 = select <8 x i1> %400, <8 x i1> %394, <8 x i1> zeroinitializer
  %wide.masked.load19.epil = call <8 x float> @llvm.masked.load.v8f32.p0v8f32(<8 x float>* %403, i32 4, <8 x i1> %457, <8 x float> poison), !alias.scope !9, !noalias !6
  %458 = fmul reassoc ninf nsz <8 x float> %wide.masked.load19.epil, %456
  %459 = fmul reassoc ninf nsz <8 x float> %wide.masked.load19.epil, %predphi18.epil
  %460 = fmul reassoc ninf nsz <8 x float> %459, <float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01>
  %461 = select <8 x i1> %455, <8 x float> zeroinitializer, <8 x float> %460
  %462 = select <8 x i1> %455, <8 x float> %459, <8 x float> zeroinitializer
  %463 = fmul reassoc ninf nsz <8 x float> %462, %454
  %464 = fcmp reassoc ninf nsz oeq <8 x float> %462, zeroinitializer
  %465 = bitcast <8 x float> %463 to <8 x i32>
  %466 = and <8 x i32> %465, <i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647>
  %467 = icmp ugt <8 x i32> %466, <i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040>
  %468 = and <8 x i1> %464, %467
  %469 = select <8 x i1> %468, <8 x float> zeroinitializer, <8 x float> %463
  %470 = fadd reassoc ninf nsz <8 x float> %469, %461
  %471 = select <8 x i1> %398, <8 x i1> %393, <8 x i1> zeroinitializer
  %wide.masked.load20.epil = call <8 x float> @llvm.masked.load.v8f32.p0v8f32(<8 x float>* %403, i32 4, <8 x i1> %471, <8 x float> poison), !alias.scope !9, !noalias !6
  %472 = fmul reassoc ninf nsz <8 x float> %337, %337
  %473 = fmul reassoc ninf nsz <8 x float> %472, %wide.masked.load20.epil
  %474 = fmul reassoc ninf nsz <8 x float> %wide.masked.load20.epil, %337
  %475 = fmul reassoc ninf nsz <8 x float> %474, <float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00>
  %476 = fmul reassoc ninf nsz <8 x float> %475, %predphi18.epil
  %predphi21.epil = select <8 x i1> %457, <8 x float> %458, <8 x float> %473
  %predphi22.epil = select <8 x i1> %402, <8 x float> %404, <8 x float> %predphi21.epil
  %predphi25.epil = select <8 x i1> %457, <8 x float> %470, <8 x float> %476
  %predphi26.epil = select <8 x i1> %402, <8 x float> %406, <8 x float> %predphi25.epil
  %477 = fmul reassoc ninf nsz <8 x float> %predphi22.epil, <float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01>
  %478 = select <8 x i1> %386, <8 x float> %predphi22.epil, <8 x float> zeroinitializer
  %479 = select <8 x i1> %386, <8 x float> zeroinitializer, <8 x float> %477
  %480 = fmul reassoc ninf nsz <8 x float> %478, %385
  %481 = fcmp reassoc ninf nsz oeq <8 x float> %478, zeroinitializer
  %482 = bitcast <8 x float> %480 to <8 x i32>
  %483 = and <8 x i32> %482, <i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647>
  %484 = icmp ugt <8 x i32> %483, <i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040>
  %485 = and <8 x i1> %481, %484
  %486 = select <8 x i1> %485, <8 x float> zeroinitializer, <8 x float> %480
  %487 = fadd reassoc ninf nsz <8 x float> %486, %479
  %488 = fmul reassoc ninf nsz <8 x float> %wide.load.epil, <float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00>
  %489 = fmul reassoc ninf nsz <8 x float> %488, %predphi22.epil
  %490 = select <8 x i1> %397, <8 x i1> %336, <8 x i1> zeroinitializer
  %491 = xor <8 x i1> %336, <i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true>
  %492 = select <8 x i1> %397, <8 x i1> %491, <8 x i1> zeroinitializer
  %predphi27.epil = select <8 x i1> %490, <8 x float> %487, <8 x float> %489
  %predphi28.epil = select <8 x i1> %492, <8 x float> %477, <8 x float> %predphi27.epil
  %493 = getelementptr float, float* %7, i64 %index.unr
  %494 = bitcast float* %493 to <8 x float>*
  %wide.load29.epil = load <8 x float>, <8 x float>* %494, align 4, !alias.scope !11, !noalias !13
  %495 = fmul reassoc ninf nsz <8 x float> %predphi26.epil, <float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01>
  %496 = fadd reassoc ninf nsz <8 x float> %predphi28.epil, %495
  %497 = fadd reassoc ninf nsz <8 x float> %496, %wide.load29.epil
  store <8 x float> %497, <8 x float>* %494, align 4, !alias.scope !11, !noalias !13
  store <8 x float> zeroinitializer, <8 x float>* %403, align 4
  br label %middle.block

middle.block:                                     ; preds = %middle.block.unr-lcssa, %vector.body.epil
  %cmp.n = icmp eq i64 %n.vec, %wide.trip.count.i
  br i1 %cmp.n, label %early_returns_in_branches_adjoint_body_1048577_0.exit, label %for_loop_body.i.preheader

for_loop_body.i.preheader:                        ; preds = %vector.memcheck, %for_loop_body.preheader.i, %middle.block
  %indvars.iv.i.ph = phi i64 [ 0, %vector.memcheck ], [ 0, %for_loop_body.preheader.i ], [ %n.vec, %middle.block ]
  %498 = xor i64 %indvars.iv.i.ph, -1
  %xtraiter = and i64 %wide.trip.count.i, 1
  %lcmp.mod.not = icmp eq i64 %xtraiter, 0
  br i1 %lcmp.mod.not, label %for_loop_body.i.prol.loopexit, label %for_loop_body.i.prol

for_loop_body.i.prol:                             ; preds = %for_loop_body.i.preheader
  %499 = getelementptr float, float* %5, i64 %indvars.iv.i.ph
  %500 = load float, float* %499, align 4
  %501 = fcmp reassoc ninf nsz ogt float %500, 1.000000e+00
  br i1 %501, label %true_block.i.prol, label %false_block.i.prol

false_block.i.prol:                               ; preds = %for_loop_body.i.prol
  %502 = fcmp reassoc ninf nsz ogt float %500, 0.000000e+00
  br i1 %502, label %true_block1.i.prol, label %false_block2.i.prol

false_block2.i.prol:                              ; preds = %false_block.i.prol
  %503 = fmul reassoc ninf nsz float %500, 5.000000e-01
  br label %after_if.i.prol

true_block1.i.prol:                               ; preds = %false_block.i.prol
  %504 = fcmp reassoc ninf nsz olt float %500, -1.040000e+02
  %505 = select reassoc ninf nsz i1 %504, float -1.040000e+02, float %500
  %506 = fcmp reassoc ninf nsz ogt float %505, 8.900000e+01
  %507 = select reassoc ninf nsz i1 %506, float 8.900000e+01, float %505
  %508 = fmul reassoc ninf nsz float %507, 0x3FF7154760000000
  %509 = fadd reassoc ninf nsz float %508, 5.000000e-01
  %510 = tail call reassoc ninf nsz float @llvm.floor.f32(float %509)
  %511 = fmul reassoc ninf nsz float %510, 0x3FE62E4000000000
  %512 = fsub reassoc ninf nsz float %507, %511
  %513 = fcmp reassoc ninf nsz olt float %512, 0xC6293E5940000000
  %514 = select reassoc ninf nsz i1 %513, float 0xC6293E5940000000, float %512
  %515 = fmul reassoc ninf nsz float %510, 0x3EB7F7D1C0000000
  %516 = fsub reassoc ninf nsz float %514, %515
  %517 = fmul reassoc ninf nsz float %516, 0x3F56D10FE0000000
  %518 = fadd reassoc ninf nsz float %517, 0x3F8120B640000000
  %519 = fmul reassoc ninf nsz float %518, %516
  %520 = fadd reassoc ninf nsz float %519, 0x3FA55551A0000000
  %521 = fmul reassoc ninf nsz float %520, %516
  %522 = fadd reassoc ninf nsz float %521, 0x3FC5554DE0000000
  %523 = fmul reassoc ninf nsz float %522, %516
  %524 = fadd reassoc ninf nsz float %523, 5.000000e-01
  %525 = fmul reassoc ninf nsz float %516, %516
  %526 = fmul reassoc ninf nsz float %525, %524
  %527 = fsub reassoc ninf nsz float %526, %515
  %528 = fptosi float %510 to i32
  %529 = fcmp reassoc ninf nsz olt float %527, 0xC6293E5940000000
  %530 = select reassoc ninf nsz i1 %529, float 0xC6293E5940000000, float %527
  %531 = fadd reassoc ninf nsz float %514, 1.000000e+00
  %532 = fadd reassoc ninf nsz float %531, %530
  %533 = add i32 %528, 124
  %534 = tail call i32 @llvm.smin.i32(i32 %533, i32 0)
  %535 = bitcast float %532 to i32
  %536 = sub i32 %528, %534
  %537 = shl i32 %536, 23
  %538 = add i32 %537, %535
  %539 = bitcast i32 %538 to float
  %540 = shl i32 %534, 23
  %541 = add i32 %540, 1065353216
  %542 = bitcast i32 %541 to float
  %543 = fmul reassoc ninf nsz float %539, %542
  %544 = bitcast float %500 to i32
  %545 = bitcast float %543 to i32
  %546 = icmp sgt i32 %544, 1118925335
  %547 = select i1 %546, i32 2139095040, i32 %545
  %548 = and i32 %544, 2147483647
  %549 = icmp ugt i32 %548, 2139095040
  %550 = select i1 %549, i32 %544, i32 %547
  %551 = bitcast i32 %550 to float
  %552 = fcmp reassoc ninf nsz ogt float %551, 2.000000e+00
  %553 = fmul reassoc ninf nsz float %500, 5.000000e-01
  %.0269.i.prol = select i1 %552, float %551, float %553
  br label %after_if.i.prol

true_block.i.prol:                                ; preds = %for_loop_body.i.prol
  %554 = fmul reassoc ninf nsz float %500, %500
  %.pre.i.prol = fmul reassoc ninf nsz float %500, 5.000000e-01
  br label %after_if.i.prol

after_if.i.prol:                                  ; preds = %true_block.i.prol, %true_block1.i.prol, %false_block2.i.prol
  %.pre-phi.i.prol = phi float [ %503, %false_block2.i.prol ], [ %553, %true_block1.i.prol ], [ %.pre.i.prol, %true_block.i.prol ]
  %.0267.i.prol = phi float [ %503, %false_block2.i.prol ], [ %.0269.i.prol, %true_block1.i.prol ], [ %554, %true_block.i.prol ]
  %555 = fcmp reassoc ninf nsz ogt float %.pre-phi.i.prol, 1.000000e+00
  br i1 %555, label %true_block16.i.prol, label %false_block8.i.prol

false_block8.i.prol:                              ; preds = %after_if.i.prol
  %556 = fcmp reassoc ninf nsz ogt float %.pre-phi.i.prol, 0.000000e+00
  br i1 %556, label %true_block19.i.prol, label %false_block20.i.prol

false_block20.i.prol:                             ; preds = %false_block8.i.prol
  %557 = fmul reassoc ninf nsz float %500, 2.500000e-01
  %558 = getelementptr float, float* %9, i64 %indvars.iv.i.ph
  %559 = load float, float* %558, align 4
  %560 = fmul reassoc ninf nsz float %557, %559
  %561 = fmul reassoc ninf nsz float %.0267.i.prol, 5.000000e-01
  %562 = fmul reassoc ninf nsz float %561, %559
  br label %after_if18.i.prol

true_block19.i.prol:                              ; preds = %false_block8.i.prol
  %563 = fcmp reassoc ninf nsz olt float %.pre-phi.i.prol, -1.040000e+02
  %564 = select reassoc ninf nsz i1 %563, float -1.040000e+02, float %.pre-phi.i.prol
  %565 = fcmp reassoc ninf nsz ogt float %564, 8.900000e+01
  %566 = select reassoc ninf nsz i1 %565, float 8.900000e+01, float %564
  %567 = fmul reassoc ninf nsz float %566, 0x3FF7154760000000
  %568 = fadd reassoc ninf nsz float %567, 5.000000e-01
  %569 = tail call reassoc ninf nsz float @llvm.floor.f32(float %568)
  %570 = fmul reassoc ninf nsz float %569, 0x3FE62E4000000000
  %571 = fsub reassoc ninf nsz float %566, %570
  %572 = fcmp reassoc ninf nsz olt float %571, 0xC6293E5940000000
  %573 = select reassoc ninf nsz i1 %572, float 0xC6293E5940000000, float %571
  %574 = fmul reassoc ninf nsz float %569, 0x3EB7F7D1C0000000
  %575 = fsub reassoc ninf nsz float %573, %574
  %576 = fmul reassoc ninf nsz float %575, 0x3F56D10FE0000000
  %577 = fadd reassoc ninf nsz float %576, 0x3F8120B640000000
  %578 = fmul reassoc ninf nsz float %577, %575
  %579 = fadd reassoc ninf nsz float %578, 0x3FA55551A0000000
  %580 = fmul reassoc ninf nsz float %579, %575
  %581 = fadd reassoc ninf nsz float %580, 0x3FC5554DE0000000
  %582 = fmul reassoc ninf nsz float %581, %575
  %583 = fadd reassoc ninf nsz float %582, 5.000000e-01
  %584 = fmul reassoc ninf nsz float %575, %575
  %585 = fmul reassoc ninf nsz float %584, %583
  %586 = fsub reassoc ninf nsz float %585, %574
  %587 = fptosi float %569 to i32
  %588 = fcmp reassoc ninf nsz olt float %586, 0xC6293E5940000000
  %589 = select reassoc ninf nsz i1 %588, float 0xC6293E5940000000, float %586
  %590 = fadd reassoc ninf nsz float %573, 1.000000e+00
  %591 = fadd reassoc ninf nsz float %590, %589
  %592 = add i32 %587, 124
  %593 = tail call i32 @llvm.smin.i32(i32 %592, i32 0)
  %594 = bitcast float %591 to i32
  %595 = sub i32 %587, %593
  %596 = shl i32 %595, 23
  %597 = add i32 %596, %594
  %598 = bitcast i32 %597 to float
  %599 = shl i32 %593, 23
  %600 = add i32 %599, 1065353216
  %601 = bitcast i32 %600 to float
  %602 = fmul reassoc ninf nsz float %598, %601
  %603 = bitcast float %.pre-phi.i.prol to i32
  %604 = bitcast float %602 to i32
  %605 = icmp sgt i32 %603, 1118925335
  %606 = select i1 %605, i32 2139095040, i32 %604
  %607 = and i32 %603, 2147483647
  %608 = icmp ugt i32 %607, 2139095040
  %609 = select i1 %608, i32 %603, i32 %606
  %610 = bitcast i32 %609 to float
  %611 = fcmp reassoc ninf nsz ogt float %610, 2.000000e+00
  %612 = fmul reassoc ninf nsz float %500, 2.500000e-01
  %.0272.i.prol = select i1 %611, float %610, float %612
  %613 = getelementptr float, float* %9, i64 %indvars.iv.i.ph
  %614 = load float, float* %613, align 4
  %615 = fmul reassoc ninf nsz float %614, %.0272.i.prol
  %616 = fmul reassoc ninf nsz float %614, %.0267.i.prol
  %617 = fmul reassoc ninf nsz float %616, 5.000000e-01
  %.0276.i.prol = select i1 %611, float 0.000000e+00, float %617
  %.0275.i.prol = select i1 %611, float %616, float 0.000000e+00
  %618 = fmul reassoc ninf nsz float %.0275.i.prol, %610
  %619 = fcmp reassoc ninf nsz oeq float %.0275.i.prol, 0.000000e+00
  %620 = bitcast float %618 to i32
  %621 = and i32 %620, 2147483647
  %622 = icmp ugt i32 %621, 2139095040
  %623 = and i1 %619, %622
  %624 = select reassoc ninf nsz i1 %623, float 0.000000e+00, float %618
  %625 = fadd reassoc ninf nsz float %624, %.0276.i.prol
  br label %after_if18.i.prol

true_block16.i.prol:                              ; preds = %after_if.i.prol
  %626 = getelementptr float, float* %9, i64 %indvars.iv.i.ph
  %627 = load float, float* %626, align 4
  %628 = fmul reassoc ninf nsz float %.pre-phi.i.prol, %.pre-phi.i.prol
  %629 = fmul reassoc ninf nsz float %628, %627
  %630 = fmul reassoc ninf nsz float %627, %.pre-phi.i.prol
  %631 = fmul reassoc ninf nsz float %630, 2.000000e+00
  %factor.i.prol = fmul reassoc ninf nsz float %631, %.0267.i.prol
  br label %after_if18.i.prol

after_if18.i.prol:                                ; preds = %true_block16.i.prol, %true_block19.i.prol, %false_block20.i.prol
  %632 = phi float [ %629, %true_block16.i.prol ], [ %615, %true_block19.i.prol ], [ %560, %false_block20.i.prol ]
  %633 = phi float* [ %626, %true_block16.i.prol ], [ %613, %true_block19.i.prol ], [ %558, %false_block20.i.prol ]
  %.0273.i.prol = phi float [ %factor.i.prol, %true_block16.i.prol ], [ %625, %true_block19.i.prol ], [ %562, %false_block20.i.prol ]
  br i1 %501, label %true_block25.i.prol, label %false_block26.i.prol

false_block26.i.prol:                             ; preds = %after_if18.i.prol
  %634 = fcmp reassoc ninf nsz ogt float %500, 0.000000e+00
  br i1 %634, label %true_block28.i.prol, label %false_block29.i.prol

false_block29.i.prol:                             ; preds = %false_block26.i.prol
  %635 = fmul reassoc ninf nsz float %632, 5.000000e-01
  br label %after_if27.i.prol

true_block28.i.prol:                              ; preds = %false_block26.i.prol
  %636 = fcmp reassoc ninf nsz olt float %500, -1.040000e+02
  %637 = select reassoc ninf nsz i1 %636, float -1.040000e+02, float %500
  %638 = fcmp reassoc ninf nsz ogt float %637, 8.900000e+01
  %639 = select reassoc ninf nsz i1 %638, float 8.900000e+01, float %637
  %640 = fmul reassoc ninf nsz float %639, 0x3FF7154760000000
  %641 = fadd reassoc ninf nsz float %640, 5.000000e-01
  %642 = tail call reassoc ninf nsz float @llvm.floor.f32(float %641)
  %643 = fmul reassoc ninf nsz float %642, 0x3FE62E4000000000
  %644 = fsub reassoc ninf nsz float %639, %643
  %645 = fcmp reassoc ninf nsz olt float %644, 0xC6293E5940000000
  %646 = select reassoc ninf nsz i1 %645, float 0xC6293E5940000000, float %644
  %647 = fmul reassoc ninf nsz float %642, 0x3EB7F7D1C0000000
  %648 = fsub reassoc ninf nsz float %646, %647
  %649 = fmul reassoc ninf nsz float %648, 0x3F56D10FE0000000
  %650 = fadd reassoc ninf nsz float %649, 0x3F8120B640000000
  %651 = fmul reassoc ninf nsz float %650, %648
  %652 = fadd reassoc ninf nsz float %651, 0x3FA55551A0000000
  %653 = fmul reassoc ninf nsz float %652, %648
  %654 = fadd reassoc ninf nsz float %653, 0x3FC5554DE0000000
  %655 = fmul reassoc ninf nsz float %654, %648
  %656 = fadd reassoc ninf nsz float %655, 5.000000e-01
  %657 = fmul reassoc ninf nsz float %648, %648
  %658 = fmul reassoc ninf nsz float %657, %656
  %659 = fsub reassoc ninf nsz float %658, %647
  %660 = fptosi float %642 to i32
  %661 = fcmp reassoc ninf nsz olt float %659, 0xC6293E5940000000
  %662 = select reassoc ninf nsz i1 %661, float 0xC6293E5940000000, float %659
  %663 = fadd reassoc ninf nsz float %646, 1.000000e+00
  %664 = fadd reassoc ninf nsz float %663, %662
  %665 = add i32 %660, 124
  %666 = tail call i32 @llvm.smin.i32(i32 %665, i32 0)
  %667 = bitcast float %664 to i32
  %668 = sub i32 %660, %666
  %669 = shl i32 %668, 23
  %670 = add i32 %669, %667
  %671 = bitcast i32 %670 to float
  %672 = shl i32 %666, 23
  %673 = add i32 %672, 1065353216
  %674 = bitcast i32 %673 to float
  %675 = fmul reassoc ninf nsz float %671, %674
  %676 = bitcast float %500 to i32
  %677 = bitcast float %675 to i32
  %678 = icmp sgt i32 %676, 1118925335
  %679 = select i1 %678, i32 2139095040, i32 %677
  %680 = and i32 %676, 2147483647
  %681 = icmp ugt i32 %680, 2139095040
  %682 = select i1 %681, i32 %676, i32 %679
  %683 = bitcast i32 %682 to float
  %684 = fcmp reassoc ninf nsz ogt float %683, 2.000000e+00
  %685 = fmul reassoc ninf nsz float %632, 5.000000e-01
  %.0266.i.prol = select i1 %684, float %632, float 0.000000e+00
  %.0265.i.prol = select i1 %684, float 0.000000e+00, float %685
  %686 = fmul reassoc ninf nsz float %.0266.i.prol, %683
  %687 = fcmp reassoc ninf nsz oeq float %.0266.i.prol, 0.000000e+00
  %688 = bitcast float %686 to i32
  %689 = and i32 %688, 2147483647
  %690 = icmp ugt i32 %689, 2139095040
  %691 = and i1 %687, %690
  %692 = select reassoc ninf nsz i1 %691, float 0.000000e+00, float %686
  %693 = fadd reassoc ninf nsz float %692, %.0265.i.prol
  br label %after_if27.i.prol

true_block25.i.prol:                              ; preds = %after_if18.i.prol
  %694 = fmul reassoc ninf nsz float %500, 2.000000e+00
  %factor287.i.prol = fmul reassoc ninf nsz float %694, %632
  br label %after_if27.i.prol

after_if27.i.prol:                                ; preds = %true_block25.i.prol, %true_block28.i.prol, %false_block29.i.prol
  %.0277.i.prol = phi float [ %factor287.i.prol, %true_block25.i.prol ], [ %693, %true_block28.i.prol ], [ %635, %false_block29.i.prol ]
  %695 = getelementptr float, float* %7, i64 %indvars.iv.i.ph
  %696 = load float, float* %695, align 4
  %697 = fmul reassoc ninf nsz float %.0273.i.prol, 5.000000e-01
  %698 = fadd reassoc ninf nsz float %.0277.i.prol, %697
  %699 = fadd reassoc ninf nsz float %698, %696
  store float %699, float* %695, align 4
  store float 0.000000e+00, float* %633, align 4
  %indvars.iv.next.i.prol = or i64 %indvars.iv.i.ph, 1
  br label %for_loop_body.i.prol.loopexit

for_loop_body.i.prol.loopexit:                    ; preds = %after_if27.i.prol, %for_loop_body.i.preheader
  %indvars.iv.i.unr = phi i64 [ %indvars.iv.i.ph, %for_loop_body.i.preheader ], [ %indvars.iv.next.i.prol, %after_if27.i.prol ]
  %700 = sub nsw i64 0, %wide.trip.count.i
  %701 = icmp eq i64 %498, %700
  br i1 %701, label %early_returns_in_branches_adjoint_body_1048577_0.exit, label %for_loop_body.i.preheader32

for_loop_body.i.preheader32:                      ; preds = %for_loop_body.i.prol.loopexit
  %702 = sub i64 %wide.trip.count.i, %indvars.iv.i.unr
  %703 = shl nuw nsw i64 %indvars.iv.i.unr, 2
  %scevgep50 = getelementptr float, float* %7, i64 1
  %scevgep59 = getelementptr float, float* %5, i64 1
  br label %for_loop_body.i

for_loop_body.i:                                  ; preds = %for_loop_body.i.preheader32, %after_if27.i.1
  %lsr.iv60 = phi float* [ %scevgep59, %for_loop_body.i.preheader32 ], [ %scevgep61, %after_if27.i.1 ]
  %lsr.iv51 = phi float* [ %scevgep50, %for_loop_body.i.preheader32 ], [ %scevgep52, %after_if27.i.1 ]
  %lsr.iv33 = phi float* [ %9, %for_loop_body.i.preheader32 ], [ %scevgep34, %after_if27.i.1 ]
  %lsr.iv = phi i64 [ %702, %for_loop_body.i.preheader32 ], [ %lsr.iv.next, %after_if27.i.1 ]
  %indvars.iv.i = phi i64 [ %indvars.iv.next.i.1, %after_if27.i.1 ], [ %indvars.iv.i.unr, %for_loop_body.i.preheader32 ]
  %lsr.iv3335 = bitcast float* %lsr.iv33 to i8*
  %lsr.iv5153 = bitcast float* %lsr.iv51 to i8*
  %lsr.iv6062 = bitcast float* %lsr.iv60 to i8*
  %uglygep65 = getelementptr i8, i8* %lsr.iv6062, i64 %703
  %uglygep6566 = bitcast i8* %uglygep65 to float*
  %scevgep67 = getelementptr float, float* %uglygep6566, i64 -1
  %704 = load float, float* %scevgep67, align 4
  %705 = fcmp reassoc ninf nsz ogt float %704, 1.000000e+00
  br i1 %705, label %true_block.i, label %false_block.i

true_block.i:                                     ; preds = %for_loop_body.i
  %706 = fmul reassoc ninf nsz float %704, %704
  %.pre.i = fmul reassoc ninf nsz float %704, 5.000000e-01
  br label %after_if.i

false_block.i:                                    ; preds = %for_loop_body.i
  %707 = fcmp reassoc ninf nsz ogt float %704, 0.000000e+00
  br i1 %707, label %true_block1.i, label %false_block2.i

after_if.i:                                       ; preds = %false_block2.i, %true_block1.i, %true_block.i
  %.pre-phi.i = phi float [ %759, %false_block2.i ], [ %758, %true_block1.i ], [ %.pre.i, %true_block.i ]
  %.0267.i = phi float [ %759, %false_block2.i ], [ %.0269.i, %true_block1.i ], [ %706, %true_block.i ]
  %708 = fcmp reassoc ninf nsz ogt float %.pre-phi.i, 1.000000e+00
  br i1 %708, label %true_block16.i, label %false_block8.i

true_block1.i:                                    ; preds = %false_block.i
  %709 = fcmp reassoc ninf nsz olt float %704, -1.040000e+02
  %710 = select reassoc ninf nsz i1 %709, float -1.040000e+02, float %704
  %711 = fcmp reassoc ninf nsz ogt float %710, 8.900000e+01
  %712 = select reassoc ninf nsz i1 %711, float 8.900000e+01, float %710
  %713 = fmul reassoc ninf nsz float %712, 0x3FF7154760000000
  %714 = fadd reassoc ninf nsz float %713, 5.000000e-01
  %715 = tail call reassoc ninf nsz float @llvm.floor.f32(float %714)
  %716 = fmul reassoc ninf nsz float %715, 0x3FE62E4000000000
  %717 = fsub reassoc ninf nsz float %712, %716
  %718 = fcmp reassoc ninf nsz olt float %717, 0xC6293E5940000000
  %719 = select reassoc ninf nsz i1 %718, float 0xC6293E5940000000, float %717
  %720 = fmul reassoc ninf nsz float %715, 0x3EB7F7D1C0000000
  %721 = fsub reassoc ninf nsz float %719, %720
  %722 = fmul reassoc ninf nsz float %721, 0x3F56D10FE0000000
  %723 = fadd reassoc ninf nsz float %722, 0x3F8120B640000000
  %724 = fmul reassoc ninf nsz float %723, %721
  %725 = fadd reassoc ninf nsz float %724, 0x3FA55551A0000000
  %726 = fmul reassoc ninf nsz float %725, %721
  %727 = fadd reassoc ninf nsz float %726, 0x3FC5554DE0000000
  %728 = fmul reassoc ninf nsz float %727, %721
  %729 = fadd reassoc ninf nsz float %728, 5.000000e-01
  %730 = fmul reassoc ninf nsz float %721, %721
  %731 = fmul reassoc ninf nsz float %730, %729
  %732 = fsub reassoc ninf nsz float %731, %720
  %733 = fptosi float %715 to i32
  %734 = fcmp reassoc ninf nsz olt float %732, 0xC6293E5940000000
  %735 = select reassoc ninf nsz i1 %734, float 0xC6293E5940000000, float %732
  %736 = fadd reassoc ninf nsz float %719, 1.000000e+00
  %737 = fadd reassoc ninf nsz float %736, %735
  %738 = add i32 %733, 124
  %739 = tail call i32 @llvm.smin.i32(i32 %738, i32 0)
  %740 = bitcast float %737 to i32
  %741 = sub i32 %733, %739
  %742 = shl i32 %741, 23
  %743 = add i32 %742, %740
  %744 = bitcast i32 %743 to float
  %745 = shl i32 %739, 23
  %746 = add i32 %745, 1065353216
  %747 = bitcast i32 %746 to float
  %748 = fmul reassoc ninf nsz float %744, %747
  %749 = bitcast float %704 to i32
  %750 = bitcast float %748 to i32
  %751 = icmp sgt i32 %749, 1118925335
  %752 = select i1 %751, i32 2139095040, i32 %750
  %753 = and i32 %749, 2147483647
  %754 = icmp ugt i32 %753, 2139095040
  %755 = select i1 %754, i32 %749, i32 %752
  %756 = bitcast i32 %755 to float
  %757 = fcmp reassoc ninf nsz ogt float %756, 2.000000e+00
  %758 = fmul reassoc ninf nsz float %704, 5.000000e-01
  %.0269.i = select i1 %757, float %756, float %758
  br label %after_if.i

false_block2.i:                                   ; preds = %false_block.i
  %759 = fmul reassoc ninf nsz float %704, 5.000000e-01
  br label %after_if.i

false_block8.i:                                   ; preds = %after_if.i
  %760 = fcmp reassoc ninf nsz ogt float %.pre-phi.i, 0.000000e+00
  br i1 %760, label %true_block19.i, label %false_block20.i

true_block16.i:                                   ; preds = %after_if.i
  %uglygep = getelementptr i8, i8* %lsr.iv3335, i64 %703
  %uglygep36 = bitcast i8* %uglygep to float*
  %761 = load float, float* %uglygep36, align 4
  %762 = fmul reassoc ninf nsz float %.pre-phi.i, %.pre-phi.i
  %763 = fmul reassoc ninf nsz float %762, %761
  %764 = fmul reassoc ninf nsz float %761, %.pre-phi.i
  %765 = fmul reassoc ninf nsz float %764, 2.000000e+00
  %factor.i = fmul reassoc ninf nsz float %765, %.0267.i
  br label %after_if18.i

after_if18.i:                                     ; preds = %false_block20.i, %true_block19.i, %true_block16.i
  %766 = phi float [ %763, %true_block16.i ], [ %820, %true_block19.i ], [ %834, %false_block20.i ]
  %767 = phi float* [ %uglygep36, %true_block16.i ], [ %818, %true_block19.i ], [ %832, %false_block20.i ]
  %.0273.i = phi float [ %factor.i, %true_block16.i ], [ %830, %true_block19.i ], [ %836, %false_block20.i ]
  br i1 %705, label %true_block25.i, label %false_block26.i

true_block19.i:                                   ; preds = %false_block8.i
  %768 = fcmp reassoc ninf nsz olt float %.pre-phi.i, -1.040000e+02
  %769 = select reassoc ninf nsz i1 %768, float -1.040000e+02, float %.pre-phi.i
  %770 = fcmp reassoc ninf nsz ogt float %769, 8.900000e+01
  %771 = select reassoc ninf nsz i1 %770, float 8.900000e+01, float %769
  %772 = fmul reassoc ninf nsz float %771, 0x3FF7154760000000
  %773 = fadd reassoc ninf nsz float %772, 5.000000e-01
  %774 = tail call reassoc ninf nsz float @llvm.floor.f32(float %773)
  %775 = fmul reassoc ninf nsz float %774, 0x3FE62E4000000000
  %776 = fsub reassoc ninf nsz float %771, %775
  %777 = fcmp reassoc ninf nsz olt float %776, 0xC6293E5940000000
  %778 = select reassoc ninf nsz i1 %777, float 0xC6293E5940000000, float %776
  %779 = fmul reassoc ninf nsz float %774, 0x3EB7F7D1C0000000
  %780 = fsub reassoc ninf nsz float %778, %779
  %781 = fmul reassoc ninf nsz float %780, 0x3F56D10FE0000000
  %782 = fadd reassoc ninf nsz float %781, 0x3F8120B640000000
  %783 = fmul reassoc ninf nsz float %782, %780
  %784 = fadd reassoc ninf nsz float %783, 0x3FA55551A0000000
  %785 = fmul reassoc ninf nsz float %784, %780
  %786 = fadd reassoc ninf nsz float %785, 0x3FC5554DE0000000
  %787 = fmul reassoc ninf nsz float %786, %780
  %788 = fadd reassoc ninf nsz float %787, 5.000000e-01
  %789 = fmul reassoc ninf nsz float %780, %780
  %790 = fmul reassoc ninf nsz float %789, %788
  %791 = fsub reassoc ninf nsz float %790, %779
  %792 = fptosi float %774 to i32
  %793 = fcmp reassoc ninf nsz olt float %791, 0xC6293E5940000000
  %794 = select reassoc ninf nsz i1 %793, float 0xC6293E5940000000, float %791
  %795 = fadd reassoc ninf nsz float %778, 1.000000e+00
  %796 = fadd reassoc ninf nsz float %795, %794
  %797 = add i32 %792, 124
  %798 = tail call i32 @llvm.smin.i32(i32 %797, i32 0)
  %799 = bitcast float %796 to i32
  %800 = sub i32 %792, %798
  %801 = shl i32 %800, 23
  %802 = add i32 %801, %799
  %803 = bitcast i32 %802 to float
  %804 = shl i32 %798, 23
  %805 = add i32 %804, 1065353216
  %806 = bitcast i32 %805 to float
  %807 = fmul reassoc ninf nsz float %803, %806
  %808 = bitcast float %.pre-phi.i to i32
  %809 = bitcast float %807 to i32
  %810 = icmp sgt i32 %808, 1118925335
  %811 = select i1 %810, i32 2139095040, i32 %809
  %812 = and i32 %808, 2147483647
  %813 = icmp ugt i32 %812, 2139095040
  %814 = select i1 %813, i32 %808, i32 %811
  %815 = bitcast i32 %814 to float
  %816 = fcmp reassoc ninf nsz ogt float %815, 2.000000e+00
  %817 = fmul reassoc ninf nsz float %704, 2.500000e-01
  %.0272.i = select i1 %816, float %815, float %817
  %818 = getelementptr float, float* %9, i64 %indvars.iv.i
  %uglygep37 = getelementptr i8, i8* %lsr.iv3335, i64 %703
  %uglygep3738 = bitcast i8* %uglygep37 to float*
  %819 = load float, float* %uglygep3738, align 4
  %820 = fmul reassoc ninf nsz float %819, %.0272.i
  %821 = fmul reassoc ninf nsz float %819, %.0267.i
  %822 = fmul reassoc ninf nsz float %821, 5.000000e-01
  %.0276.i = select i1 %816, float 0.000000e+00, float %822
  %.0275.i = select i1 %816, float %821, float 0.000000e+00
  %823 = fmul reassoc ninf nsz float %.0275.i, %815
  %824 = fcmp reassoc ninf nsz oeq float %.0275.i, 0.000000e+00
  %825 = bitcast float %823 to i32
  %826 = and i32 %825, 2147483647
  %827 = icmp ugt i32 %826, 2139095040
  %828 = and i1 %824, %827
  %829 = select reassoc ninf nsz i1 %828, float 0.000000e+00, float %823
  %830 = fadd reassoc ninf nsz float %829, %.0276.i
  br label %after_if18.i

false_block20.i:                                  ; preds = %false_block8.i
  %831 = fmul reassoc ninf nsz float %704, 2.500000e-01
  %832 = getelementptr float, float* %9, i64 %indvars.iv.i
  %uglygep48 = getelementptr i8, i8* %lsr.iv3335, i64 %703
  %uglygep4849 = bitcast i8* %uglygep48 to float*
  %833 = load float, float* %uglygep4849, align 4
  %834 = fmul reassoc ninf nsz float %831, %833
  %835 = fmul reassoc ninf nsz float %.0267.i, 5.000000e-01
  %836 = fmul reassoc ninf nsz float %835, %833
  br label %after_if18.i

true_block25.i:                                   ; preds = %after_if18.i
  %837 = fmul reassoc ninf nsz float %704, 2.000000e+00
  %factor287.i = fmul reassoc ninf nsz float %837, %766
  br label %after_if27.i

false_block26.i:                                  ; preds = %after_if18.i
  %838 = fcmp reassoc ninf nsz ogt float %704, 0.000000e+00
  br i1 %838, label %true_block28.i, label %false_block29.i

after_if27.i:                                     ; preds = %false_block29.i, %true_block28.i, %true_block25.i
  %.0277.i = phi float [ %factor287.i, %true_block25.i ], [ %1100, %true_block28.i ], [ %1101, %false_block29.i ]
  %uglygep56 = getelementptr i8, i8* %lsr.iv5153, i64 %703
  %uglygep5657 = bitcast i8* %uglygep56 to float*
  %scevgep58 = getelementptr float, float* %uglygep5657, i64 -1
  %839 = load float, float* %scevgep58, align 4
  %840 = fmul reassoc ninf nsz float %.0273.i, 5.000000e-01
  %841 = fadd reassoc ninf nsz float %.0277.i, %840
  %842 = fadd reassoc ninf nsz float %841, %839
  store float %842, float* %scevgep58, align 4
  store float 0.000000e+00, float* %767, align 4
  %843 = load float, float* %uglygep6566, align 4
  %844 = fcmp reassoc ninf nsz ogt float %843, 1.000000e+00
  br i1 %844, label %true_block.i.1, label %false_block.i.1

false_block.i.1:                                  ; preds = %after_if27.i
  %845 = fcmp reassoc ninf nsz ogt float %843, 0.000000e+00
  br i1 %845, label %true_block1.i.1, label %false_block2.i.1

false_block2.i.1:                                 ; preds = %false_block.i.1
  %846 = fmul reassoc ninf nsz float %843, 5.000000e-01
  br label %after_if.i.1

true_block1.i.1:                                  ; preds = %false_block.i.1
  %847 = fcmp reassoc ninf nsz olt float %843, -1.040000e+02
  %848 = select reassoc ninf nsz i1 %847, float -1.040000e+02, float %843
  %849 = fcmp reassoc ninf nsz ogt float %848, 8.900000e+01
  %850 = select reassoc ninf nsz i1 %849, float 8.900000e+01, float %848
  %851 = fmul reassoc ninf nsz float %850, 0x3FF7154760000000
  %852 = fadd reassoc ninf nsz float %851, 5.000000e-01
  %853 = tail call reassoc ninf nsz float @llvm.floor.f32(float %852)
  %854 = fmul reassoc ninf nsz float %853, 0x3FE62E4000000000
  %855 = fsub reassoc ninf nsz float %850, %854
  %856 = fcmp reassoc ninf nsz olt float %855, 0xC6293E5940000000
  %857 = select reassoc ninf nsz i1 %856, float 0xC6293E5940000000, float %855
  %858 = fmul reassoc ninf nsz float %853, 0x3EB7F7D1C0000000
  %859 = fsub reassoc ninf nsz float %857, %858
  %860 = fmul reassoc ninf nsz float %859, 0x3F56D10FE0000000
  %861 = fadd reassoc ninf nsz float %860, 0x3F8120B640000000
  %862 = fmul reassoc ninf nsz float %861, %859
  %863 = fadd reassoc ninf nsz float %862, 0x3FA55551A0000000
  %864 = fmul reassoc ninf nsz float %863, %859
  %865 = fadd reassoc ninf nsz float %864, 0x3FC5554DE0000000
  %866 = fmul reassoc ninf nsz float %865, %859
  %867 = fadd reassoc ninf nsz float %866, 5.000000e-01
  %868 = fmul reassoc ninf nsz float %859, %859
  %869 = fmul reassoc ninf nsz float %868, %867
  %870 = fsub reassoc ninf nsz float %869, %858
  %871 = fptosi float %853 to i32
  %872 = fcmp reassoc ninf nsz olt float %870, 0xC6293E5940000000
  %873 = select reassoc ninf nsz i1 %872, float 0xC6293E5940000000, float %870
  %874 = fadd reassoc ninf nsz float %857, 1.000000e+00
  %875 = fadd reassoc ninf nsz float %874, %873
  %876 = add i32 %871, 124
  %877 = tail call i32 @llvm.smin.i32(i32 %876, i32 0)
  %878 = bitcast float %875 to i32
  %879 = sub i32 %871, %877
  %880 = shl i32 %879, 23
  %881 = add i32 %880, %878
  %882 = bitcast i32 %881 to float
  %883 = shl i32 %877, 23
  %884 = add i32 %883, 1065353216
  %885 = bitcast i32 %884 to float
  %886 = fmul reassoc ninf nsz float %882, %885
  %887 = bitcast float %843 to i32
  %888 = bitcast float %886 to i32
  %889 = icmp sgt i32 %887, 1118925335
  %890 = select i1 %889, i32 2139095040, i32 %888
  %891 = and i32 %887, 2147483647
  %892 = icmp ugt i32 %891, 2139095040
  %893 = select i1 %892, i32 %887, i32 %890
  %894 = bitcast i32 %893 to float
  %895 = fcmp reassoc ninf nsz ogt float %894, 2.000000e+00
  %896 = fmul reassoc ninf nsz float %843, 5.000000e-01
  %.0269.i.1 = select i1 %895, float %894, float %896
  br label %after_if.i.1

true_block.i.1:                                   ; preds = %after_if27.i
  %897 = fmul reassoc ninf nsz float %843, %843
  %.pre.i.1 = fmul reassoc ninf nsz float %843, 5.000000e-01
  br label %after_if.i.1

after_if.i.1:                                     ; preds = %true_block.i.1, %true_block1.i.1, %false_block2.i.1
  %.pre-phi.i.1 = phi float [ %846, %false_block2.i.1 ], [ %896, %true_block1.i.1 ], [ %.pre.i.1, %true_block.i.1 ]
  %.0267.i.1 = phi float [ %846, %false_block2.i.1 ], [ %.0269.i.1, %true_block1.i.1 ], [ %897, %true_block.i.1 ]
  %898 = fcmp reassoc ninf nsz ogt float %.pre-phi.i.1, 1.000000e+00
  br i1 %898, label %true_block16.i.1, label %false_block8.i.1

false_block8.i.1:                                 ; preds = %after_if.i.1
  %899 = fcmp reassoc ninf nsz ogt float %.pre-phi.i.1, 0.000000e+00
  br i1 %899, label %true_block19.i.1, label %false_block20.i.1

false_block20.i.1:                                ; preds = %false_block8.i.1
  %900 = fmul reassoc ninf nsz float %843, 2.500000e-01
  %901 = getelementptr float, float* %9, i64 %indvars.iv.i
  %902 = getelementptr float, float* %901, i64 1
  %uglygep45 = getelementptr i8, i8* %lsr.iv3335, i64 %703
  %uglygep4546 = bitcast i8* %uglygep45 to float*
  %scevgep47 = getelementptr float, float* %uglygep4546, i64 1
  %903 = load float, float* %scevgep47, align 4
  %904 = fmul reassoc ninf nsz float %900, %903
  %905 = fmul reassoc ninf nsz float %.0267.i.1, 5.000000e-01
  %906 = fmul reassoc ninf nsz float %905, %903
  br label %after_if18.i.1

true_block19.i.1:                                 ; preds = %false_block8.i.1
  %907 = fcmp reassoc ninf nsz olt float %.pre-phi.i.1, -1.040000e+02
  %908 = select reassoc ninf nsz i1 %907, float -1.040000e+02, float %.pre-phi.i.1
  %909 = fcmp reassoc ninf nsz ogt float %908, 8.900000e+01
  %910 = select reassoc ninf nsz i1 %909, float 8.900000e+01, float %908
  %911 = fmul reassoc ninf nsz float %910, 0x3FF7154760000000
  %912 = fadd reassoc ninf nsz float %911, 5.000000e-01
  %913 = tail call reassoc ninf nsz float @llvm.floor.f32(float %912)
  %914 = fmul reassoc ninf nsz float %913, 0x3FE62E4000000000
  %915 = fsub reassoc ninf nsz float %910, %914
  %916 = fcmp reassoc ninf nsz olt float %915, 0xC6293E5940000000
  %917 = select reassoc ninf nsz i1 %916, float 0xC6293E5940000000, float %915
  %918 = fmul reassoc ninf nsz float %913, 0x3EB7F7D1C0000000
  %919 = fsub reassoc ninf nsz float %917, %918
  %920 = fmul reassoc ninf nsz float %919, 0x3F56D10FE0000000
  %921 = fadd reassoc ninf nsz float %920, 0x3F8120B640000000
  %922 = fmul reassoc ninf nsz float %921, %919
  %923 = fadd reassoc ninf nsz float %922, 0x3FA55551A0000000
  %924 = fmul reassoc ninf nsz float %923, %919
  %925 = fadd reassoc ninf nsz float %924, 0x3FC5554DE0000000
  %926 = fmul reassoc ninf nsz float %925, %919
  %927 = fadd reassoc ninf nsz float %926, 5.000000e-01
  %928 = fmul reassoc ninf nsz float %919, %919
  %929 = fmul reassoc ninf nsz float %928, %927
  %930 = fsub reassoc ninf nsz float %929, %918
  %931 = fptosi float %913 to i32
  %932 = fcmp reassoc ninf nsz olt float %930, 0xC6293E5940000000
  %933 = select reassoc ninf nsz i1 %932, float 0xC6293E5940000000, float %930
  %934 = fadd reassoc ninf nsz float %917, 1.000000e+00
  %935 = fadd reassoc ninf nsz float %934, %933
  %936 = add i32 %931, 124
  %937 = tail call i32 @llvm.smin.i32(i32 %936, i32 0)
  %938 = bitcast float %935 to i32
  %939 = sub i32 %931, %937
  %940 = shl i32 %939, 23
  %941 = add i32 %940, %938
  %942 = bitcast i32 %941 to float
  %943 = shl i32 %937, 23
  %944 = add i32 %943, 1065353216
  %945 = bitcast i32 %944 to float
  %946 = fmul reassoc ninf nsz float %942, %945
  %947 = bitcast float %.pre-phi.i.1 to i32
  %948 = bitcast float %946 to i32
  %949 = icmp sgt i32 %947, 1118925335
  %950 = select i1 %949, i32 2139095040, i32 %948
  %951 = and i32 %947, 2147483647
  %952 = icmp ugt i32 %951, 2139095040
  %953 = select i1 %952, i32 %947, i32 %950
  %954 = bitcast i32 %953 to float
  %955 = fcmp reassoc ninf nsz ogt float %954, 2.000000e+00
  %956 = fmul reassoc ninf nsz float %843, 2.500000e-01
  %.0272.i.1 = select i1 %955, float %954, float %956
  %957 = getelementptr float, float* %9, i64 %indvars.iv.i
  %958 = getelementptr float, float* %957, i64 1
  %uglygep42 = getelementptr i8, i8* %lsr.iv3335, i64 %703
  %uglygep4243 = bitcast i8* %uglygep42 to float*
  %scevgep44 = getelementptr float, float* %uglygep4243, i64 1
  %959 = load float, float* %scevgep44, align 4
  %960 = fmul reassoc ninf nsz float %959, %.0272.i.1
  %961 = fmul reassoc ninf nsz float %959, %.0267.i.1
  %962 = fmul reassoc ninf nsz float %961, 5.000000e-01
  %.0276.i.1 = select i1 %955, float 0.000000e+00, float %962
  %.0275.i.1 = select i1 %955, float %961, float 0.000000e+00
  %963 = fmul reassoc ninf nsz float %.0275.i.1, %954
  %964 = fcmp reassoc ninf nsz oeq float %.0275.i.1, 0.000000e+00
  %965 = bitcast float %963 to i32
  %966 = and i32 %965, 2147483647
  %967 = icmp ugt i32 %966, 2139095040
  %968 = and i1 %964, %967
  %969 = select reassoc ninf nsz i1 %968, float 0.000000e+00, float %963
  %970 = fadd reassoc ninf nsz float %969, %.0276.i.1
  br label %after_if18.i.1

true_block16.i.1:                                 ; preds = %after_if.i.1
  %uglygep39 = getelementptr i8, i8* %lsr.iv3335, i64 %703
  %uglygep3940 = bitcast i8* %uglygep39 to float*
  %scevgep41 = getelementptr float, float* %uglygep3940, i64 1
  %971 = load float, float* %scevgep41, align 4
  %972 = fmul reassoc ninf nsz float %.pre-phi.i.1, %.pre-phi.i.1
  %973 = fmul reassoc ninf nsz float %972, %971
  %974 = fmul reassoc ninf nsz float %971, %.pre-phi.i.1
  %975 = fmul reassoc ninf nsz float %974, 2.000000e+00
  %factor.i.1 = fmul reassoc ninf nsz float %975, %.0267.i.1
  br label %after_if18.i.1

after_if18.i.1:                                   ; preds = %true_block16.i.1, %true_block19.i.1, %false_block20.i.1
  %976 = phi float [ %973, %true_block16.i.1 ], [ %960, %true_block19.i.1 ], [ %904, %false_block20.i.1 ]
  %977 = phi float* [ %scevgep41, %true_block16.i.1 ], [ %958, %true_block19.i.1 ], [ %902, %false_block20.i.1 ]
  %.0273.i.1 = phi float [ %factor.i.1, %true_block16.i.1 ], [ %970, %true_block19.i.1 ], [ %906, %false_block20.i.1 ]
  br i1 %844, label %true_block25.i.1, label %false_block26.i.1

false_block26.i.1:                                ; preds = %after_if18.i.1
  %978 = fcmp reassoc ninf nsz ogt float %843, 0.000000e+00
  br i1 %978, label %true_block28.i.1, label %false_block29.i.1

false_block29.i.1:                                ; preds = %false_block26.i.1
  %979 = fmul reassoc ninf nsz float %976, 5.000000e-01
  br label %after_if27.i.1

true_block28.i.1:                                 ; preds = %false_block26.i.1
  %980 = fcmp reassoc ninf nsz olt float %843, -1.040000e+02
  %981 = select reassoc ninf nsz i1 %980, float -1.040000e+02, float %843
  %982 = fcmp reassoc ninf nsz ogt float %981, 8.900000e+01
  %983 = select reassoc ninf nsz i1 %982, float 8.900000e+01, float %981
  %984 = fmul reassoc ninf nsz float %983, 0x3FF7154760000000
  %985 = fadd reassoc ninf nsz float %984, 5.000000e-01
  %986 = tail call reassoc ninf nsz float @llvm.floor.f32(float %985)
  %987 = fmul reassoc ninf nsz float %986, 0x3FE62E4000000000
  %988 = fsub reassoc ninf nsz float %983, %987
  %989 = fcmp reassoc ninf nsz olt float %988, 0xC6293E5940000000
  %990 = select reassoc ninf nsz i1 %989, float 0xC6293E5940000000, float %988
  %991 = fmul reassoc ninf nsz float %986, 0x3EB7F7D1C0000000
  %992 = fsub reassoc ninf nsz float %990, %991
  %993 = fmul reassoc ninf nsz float %992, 0x3F56D10FE0000000
  %994 = fadd reassoc ninf nsz float %993, 0x3F8120B640000000
  %995 = fmul reassoc ninf nsz float %994, %992
  %996 = fadd reassoc ninf nsz float %995, 0x3FA55551A0000000
  %997 = fmul reassoc ninf nsz float %996, %992
  %998 = fadd reassoc ninf nsz float %997, 0x3FC5554DE0000000
  %999 = fmul reassoc ninf nsz float %998, %992
  %1000 = fadd reassoc ninf nsz float %999, 5.000000e-01
  %1001 = fmul reassoc ninf nsz float %992, %992
  %1002 = fmul reassoc ninf nsz float %1001, %1000
  %1003 = fsub reassoc ninf nsz float %1002, %991
  %1004 = fptosi float %986 to i32
  %1005 = fcmp reassoc ninf nsz olt float %1003, 0xC6293E5940000000
  %1006 = select reassoc ninf nsz i1 %1005, float 0xC6293E5940000000, float %1003
  %1007 = fadd reassoc ninf nsz float %990, 1.000000e+00
  %1008 = fadd reassoc ninf nsz float %1007, %1006
  %1009 = add i32 %1004, 124
  %1010 = tail call i32 @llvm.smin.i32(i32 %1009, i32 0)
  %1011 = bitcast float %1008 to i32
  %1012 = sub i32 %1004, %1010
  %1013 = shl i32 %1012, 23
  %1014 = add i32 %1013, %1011
  %1015 = bitcast i32 %1014 to float
  %1016 = shl i32 %1010, 23
  %1017 = add i32 %1016, 1065353216
  %1018 = bitcast i32 %1017 to float
  %1019 = fmul reassoc ninf nsz float %1015, %1018
  %1020 = bitcast float %843 to i32
  %1021 = bitcast float %1019 to i32
  %1022 = icmp sgt i32 %1020, 1118925335
  %1023 = select i1 %1022, i32 2139095040, i32 %1021
  %1024 = and i32 %1020, 2147483647
  %1025 = icmp ugt i32 %1024, 2139095040
  %1026 = select i1 %1025, i32 %1020, i32 %1023
  %1027 = bitcast i32 %1026 to float
  %1028 = fcmp reassoc ninf nsz ogt float %1027, 2.000000e+00
  %1029 = fmul reassoc ninf nsz float %976, 5.000000e-01
  %.0266.i.1 = select i1 %1028, float %976, float 0.000000e+00
  %.0265.i.1 = select i1 %1028, float 0.000000e+00, float %1029
  %1030 = fmul reassoc ninf nsz float %.0266.i.1, %1027
  %1031 = fcmp reassoc ninf nsz oeq float %.0266.i.1, 0.000000e+00
  %1032 = bitcast float %1030 to i32
  %1033 = and i32 %1032, 2147483647
  %1034 = icmp ugt i32 %1033, 2139095040
  %1035 = and i1 %1031, %1034
  %1036 = select reassoc ninf nsz i1 %1035, float 0.000000e+00, float %1030
  %1037 = fadd reassoc ninf nsz float %1036, %.0265.i.1
  br label %after_if27.i.1

true_block25.i.1:                                 ; preds = %after_if18.i.1
  %1038 = fmul reassoc ninf nsz float %843, 2.000000e+00
  %factor287.i.1 = fmul reassoc ninf nsz float %1038, %976
  br label %after_if27.i.1

after_if27.i.1:                                   ; preds = %true_block25.i.1, %true_block28.i.1, %false_block29.i.1
  %.0277.i.1 = phi float [ %factor287.i.1, %true_block25.i.1 ], [ %1037, %true_block28.i.1 ], [ %979, %false_block29.i.1 ]
  %1039 = load float, float* %uglygep5657, align 4
  %1040 = fmul reassoc ninf nsz float %.0273.i.1, 5.000000e-01
  %1041 = fadd reassoc ninf nsz float %.0277.i.1, %1040
  %1042 = fadd reassoc ninf nsz float %1041, %1039
  store float %1042, float* %uglygep5657, align 4
  store float 0.000000e+00, float* %977, align 4
  %indvars.iv.next.i.1 = add nuw nsw i64 %indvars.iv.i, 2
  %lsr.iv.next = add i64 %lsr.iv, -2
  %scevgep34 = getelementptr float, float* %lsr.iv33, i64 2
  %scevgep52 = getelementptr float, float* %lsr.iv51, i64 2
  %scevgep61 = getelementptr float, float* %lsr.iv60, i64 2
  %exitcond.not.i.1 = icmp eq i64 %lsr.iv.next, 0
  br i1 %exitcond.not.i.1, label %early_returns_in_branches_adjoint_body_1048577_0.exit.loopexit, label %for_loop_body.i, !llvm.loop !16

true_block28.i:                                   ; preds = %false_block26.i
  %1043 = fcmp reassoc ninf nsz olt float %704, -1.040000e+02
  %1044 = select reassoc ninf nsz i1 %1043, float -1.040000e+02, float %704
  %1045 = fcmp reassoc ninf nsz ogt float %1044, 8.900000e+01
  %1046 = select reassoc ninf nsz i1 %1045, float 8.900000e+01, float %1044
  %1047 = fmul reassoc ninf nsz float %1046, 0x3FF7154760000000
  %1048 = fadd reassoc ninf nsz float %1047, 5.000000e-01
  %1049 = tail call reassoc ninf nsz float @llvm.floor.f32(float %1048)
  %1050 = fmul reassoc ninf nsz float %1049, 0x3FE62E4000000000
  %1051 = fsub reassoc ninf nsz float %1046, %1050
  %1052 = fcmp reassoc ninf nsz olt float %1051, 0xC6293E5940000000
  %1053 = select reassoc ninf nsz i1 %1052, float 0xC6293E5940000000, float %1051
  %1054 = fmul reassoc ninf nsz float %1049, 0x3EB7F7D1C0000000
  %1055 = fsub reassoc ninf nsz float %1053, %1054
  %1056 = fmul reassoc ninf nsz float %1055, 0x3F56D10FE0000000
  %1057 = fadd reassoc ninf nsz float %1056, 0x3F8120B640000000
  %1058 = fmul reassoc ninf nsz float %1057, %1055
  %1059 = fadd reassoc ninf nsz float %1058, 0x3FA55551A0000000
  %1060 = fmul reassoc ninf nsz float %1059, %1055
  %1061 = fadd reassoc ninf nsz float %1060, 0x3FC5554DE0000000
  %1062 = fmul reassoc ninf nsz float %1061, %1055
  %1063 = fadd reassoc ninf nsz float %1062, 5.000000e-01
  %1064 = fmul reassoc ninf nsz float %1055, %1055
  %1065 = fmul reassoc ninf nsz float %1064, %1063
  %1066 = fsub reassoc ninf nsz float %1065, %1054
  %1067 = fptosi float %1049 to i32
  %1068 = fcmp reassoc ninf nsz olt float %1066, 0xC6293E5940000000
  %1069 = select reassoc ninf nsz i1 %1068, float 0xC6293E5940000000, float %1066
  %1070 = fadd reassoc ninf nsz float %1053, 1.000000e+00
  %1071 = fadd reassoc ninf nsz float %1070, %1069
  %1072 = add i32 %1067, 124
  %1073 = tail call i32 @llvm.smin.i32(i32 %1072, i32 0)
  %1074 = bitcast float %1071 to i32
  %1075 = sub i32 %1067, %1073
  %1076 = shl i32 %1075, 23
  %1077 = add i32 %1076, %1074
  %1078 = bitcast i32 %1077 to float
  %1079 = shl i32 %1073, 23
  %1080 = add i32 %1079, 1065353216
  %1081 = bitcast i32 %1080 to float
  %1082 = fmul reassoc ninf nsz float %1078, %1081
  %1083 = bitcast float %704 to i32
  %1084 = bitcast float %1082 to i32
  %1085 = icmp sgt i32 %1083, 1118925335
  %1086 = select i1 %1085, i32 2139095040, i32 %1084
  %1087 = and i32 %1083, 2147483647
  %1088 = icmp ugt i32 %1087, 2139095040
  %1089 = select i1 %1088, i32 %1083, i32 %1086
  %1090 = bitcast i32 %1089 to float
  %1091 = fcmp reassoc ninf nsz ogt float %1090, 2.000000e+00
  %1092 = fmul reassoc ninf nsz float %766, 5.000000e-01
  %.0266.i = select i1 %1091, float %766, float 0.000000e+00
  %.0265.i = select i1 %1091, float 0.000000e+00, float %1092
  %1093 = fmul reassoc ninf nsz float %.0266.i, %1090
  %1094 = fcmp reassoc ninf nsz oeq float %.0266.i, 0.000000e+00
  %1095 = bitcast float %1093 to i32
  %1096 = and i32 %1095, 2147483647
  %1097 = icmp ugt i32 %1096, 2139095040
  %1098 = and i1 %1094, %1097
  %1099 = select reassoc ninf nsz i1 %1098, float 0.000000e+00, float %1093
  %1100 = fadd reassoc ninf nsz float %1099, %.0265.i
  br label %after_if27.i

false_block29.i:                                  ; preds = %false_block26.i
  %1101 = fmul reassoc ninf nsz float %766, 5.000000e-01
  br label %after_if27.i

early_returns_in_branches_adjoint_body_1048577_0.exit.loopexit: ; preds = %after_if27.i.1
  br label %early_returns_in_branches_adjoint_body_1048577_0.exit

early_returns_in_branches_adjoint_body_1048577_0.exit: ; preds = %early_returns_in_branches_adjoint_body_1048577_0.exit.loopexit, %for_loop_body.i.prol.loopexit, %middle.block, %entry
  ret void
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind readnone speculatable willreturn
declare float @llvm.floor.f32(float) #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind readnone speculatable willreturn
declare i32 @llvm.smin.i32(i32, i32) #1

; Function Attrs: nocallback nofree nosync nounwind readnone speculatable willreturn
declare <8 x float> @llvm.floor.v8f32(<8 x float>) #2

; Function Attrs: nocallback nofree nosync nounwind readnone speculatable willreturn
declare <8 x i32> @llvm.smin.v8i32(<8 x i32>, <8 x i32>) #2

; Function Attrs: argmemonly nocallback nofree nosync nounwind readonly willreturn
declare <8 x float> @llvm.masked.load.v8f32.p0v8f32(<8 x float>*, i32 immarg, <8 x i1>, <8 x float>) #3

attributes #0 = { nofree nosync nounwind }
attributes #1 = { mustprogress nocallback nofree nosync nounwind readnone speculatable willreturn }
attributes #2 = { nocallback nofree nosync nounwind readnone speculatable willreturn }
attributes #3 = { argmemonly nocallback nofree nosync nounwind readonly willreturn }

!llvm.ident = !{!0}
!llvm.module.flags = !{!1, !2, !3, !4, !5}

!0 = !{!"Ubuntu clang version 14.0.6"}
!1 = !{i32 1, !"wchar_size", i32 4}
!2 = !{i32 7, !"PIC Level", i32 2}
!3 = !{i32 7, !"PIE Level", i32 2}
!4 = !{i32 7, !"uwtable", i32 1}
!5 = !{i32 7, !"frame-pointer", i32 2}
!6 = !{!7}
!7 = distinct !{!7, !8}
!8 = distinct !{!8, !"LVerDomain"}
!9 = !{!10}
!10 = distinct !{!10, !8}
!11 = !{!12}
!12 = distinct !{!12, !8}
!13 = !{!10, !7}
!14 = distinct !{!14, !15}
!15 = !{!"llvm.loop.isvectorized", i32 1}
!16 = distinct !{!16, !15}
