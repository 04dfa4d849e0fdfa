; ModuleID = 'kernel'
source_filename = "kernel"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

%struct.RuntimeContext.7 = type { i8*, %struct.LLVMRuntime.6*, i32, i64* }
%struct.LLVMRuntime.6 = type { %struct.PreallocatedMemoryChunk.1, %struct.PreallocatedMemoryChunk.1, i8* (i8*, i64, i64)*, void (i8*)*, void (i8*, ...)*, i32 (i8*, i64, i8*, %struct.__va_list_tag.2*)*, i8*, [512 x i8*], [512 x i64], i8*, void (i8*, i32, i32, i8*, void (i8*, i32, i32)*)*, [1024 x %struct.ListManager.3*], [1024 x %struct.NodeManager.4*], [1024 x i8*], i8*, %struct.RandState.5*, i8*, void (i8*, i8*)*, void (i8*)*, [2048 x i8], [32 x i64], i32, i64, i8*, i32, i32, i64 }
%struct.PreallocatedMemoryChunk.1 = type { i8*, i8*, i64 }
%struct.__va_list_tag.2 = type { i32, i32, i8*, i8* }
%struct.ListManager.3 = type { [131072 x i8*], i64, i64, i32, i32, i32, %struct.LLVMRuntime.6* }
%struct.NodeManager.4 = type <{ %struct.LLVMRuntime.6*, i32, i32, i32, i32, %struct.ListManager.3*, %struct.ListManager.3*, %struct.ListManager.3*, i32, [4 x i8] }>
%struct.RandState.5 = type { i32, i32, i32, i32, i32 }

; Function Attrs: nofree nosync nounwind
define void @early_returns_in_branches_c0_0_kernel_0_serial(%struct.RuntimeContext.7* nocapture readonly %context) local_unnamed_addr #0 {
entry:
  %0 = bitcast %struct.RuntimeContext.7* %context to { { { i32 }, float* }, { { i32 }, float* } }**
  %1 = load { { { i32 }, float* }, { { i32 }, float* } }*, { { { i32 }, float* }, { { i32 }, float* } }** %0, align 8
  %2 = getelementptr { { { i32 }, float* }, { { i32 }, float* } }, { { { i32 }, float* }, { { i32 }, float* } }* %1, i64 0, i32 0, i32 0, i32 0
  %3 = load i32, i32* %2, align 4
  %4 = getelementptr { { { i32 }, float* }, { { i32 }, float* } }, { { { i32 }, float* }, { { i32 }, float* } }* %1, i64 0, i32 0, i32 1
  %5 = load float*, float** %4, align 8
  %6 = getelementptr { { { i32 }, float* }, { { i32 }, float* } }, { { { i32 }, float* }, { { i32 }, float* } }* %1, i64 0, i32 1, i32 1
  %7 = load float*, float** %6, align 8
  %8 = icmp sgt i32 %3, 0
  br i1 %8, label %for_loop_body.preheader.i, label %early_returns_in_branches_body_1048576_0.exit

for_loop_body.preheader.i:                        ; preds = %entry
  %9 = ptrtoint float* %7 to i64
  %10 = ptrtoint float* %5 to i64
  %wide.trip.count.i = zext i32 %3 to i64
  %min.iters.check = icmp ult i32 %3, 8
  %11 = sub i64 %9, %10
  %diff.check = icmp ult i64 %11, 32
  %or.cond = select i1 %min.iters.check, i1 true, i1 %diff.check
  br i1 %or.cond, label %for_loop_body.i.preheader, label %vector.ph

vector.ph:                                        ; preds = %for_loop_body.preheader.i
  %n.vec = and i64 %wide.trip.count.i, 4294967288
  %12 = add nsw i64 %n.vec, -8
  %13 = lshr exact i64 %12, 3
  %14 = add nuw nsw i64 %13, 1
  %xtraiter7 = and i64 %14, 3
  %15 = icmp ult i64 %12, 24
  br i1 %15, label %middle.block.unr-lcssa, label %vector.ph.new

vector.ph.new:                                    ; preds = %vector.ph
  %unroll_iter = and i64 %14, 4611686018427387900
  %scevgep24 = getelementptr float, float* %5, i64 24
  %scevgep36 = getelementptr float, float* %7, i64 24
  br label %vector.body

vector.body:                                      ; preds = %vector.body, %vector.ph.new
  %lsr.iv48 = phi i64 [ %lsr.iv.next49, %vector.body ], [ %unroll_iter, %vector.ph.new ]
  %index = phi i64 [ 0, %vector.ph.new ], [ %index.next.3, %vector.body ]
  %scevgep33 = getelementptr float, float* %scevgep24, i64 %index
  %scevgep3334 = bitcast float* %scevgep33 to <8 x float>*
  %scevgep35 = getelementptr <8 x float>, <8 x float>* %scevgep3334, i64 -3
  %wide.load = load <8 x float>, <8 x float>* %scevgep35, align 4
  %16 = fcmp reassoc ninf nsz ogt <8 x float> %wide.load, <float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00>
  %17 = fcmp reassoc ninf nsz ogt <8 x float> %wide.load, zeroinitializer
  %18 = fmul reassoc ninf nsz <8 x float> %wide.load, <float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01>
  %19 = fcmp reassoc ninf nsz olt <8 x float> %wide.load, <float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02>
  %20 = select <8 x i1> %19, <8 x float> <float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02>, <8 x float> %wide.load
  %21 = fcmp reassoc ninf nsz ogt <8 x float> %20, <float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01>
  %22 = select <8 x i1> %21, <8 x float> <float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01>, <8 x float> %20
  %23 = fmul reassoc ninf nsz <8 x float> %22, <float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000>
  %24 = fadd reassoc ninf nsz <8 x float> %23, <float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01>
  %25 = call reassoc ninf nsz <8 x float> @llvm.floor.v8f32(<8 x float> %24)
  %26 = fmul reassoc ninf nsz <8 x float> %25, <float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000>
  %27 = fsub reassoc ninf nsz <8 x float> %22, %26
  %28 = fcmp reassoc ninf nsz olt <8 x float> %27, <float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000>
  %29 = select <8 x i1> %28, <8 x float> <float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000>, <8 x float> %27
  %30 = fmul reassoc ninf nsz <8 x float> %25, <float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000>
  %31 = fsub reassoc ninf nsz <8 x float> %29, %30
  %32 = fmul reassoc ninf nsz <8 x float> %31, <float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000>
  %33 = fadd reassoc ninf nsz <8 x float> %32, <float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000>
  %34 = fmul reassoc ninf nsz <8 x float> %33, %31
  %35 = fadd reassoc ninf nsz <8 x float> %34, <float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000>
  %36 = fmul reassoc ninf nsz <8 x float> %35, %31
  %37 = fadd reassoc ninf nsz <8 x float> %36, <float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000>
  %38 = fmul reassoc ninf nsz <8 x float> %37, %31
  %39 = fadd reassoc ninf nsz <8 x float> %38, <float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01>
  %40 = fmul reassoc ninf nsz <8 x float> %31, %31
  %41 = fmul reassoc ninf nsz <8 x float> %40, %39
  %42 = fsub reassoc ninf nsz <8 x float> %41, %30
  %43 = fptosi <8 x float> %25 to <8 x i32>
  %44 = fcmp reassoc ninf nsz olt <8 x float> %42, <float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000>
  %45 = select <8 x i1> %44, <8 x float> <float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000>, <8 x float> %42
  %46 = fadd reassoc ninf nsz <8 x float> %29, <float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00>
  %47 = fadd reassoc ninf nsz <8 x float> %46, %45
  %48 = add <8 x i32> %43, <i32 124, i32 124, i32 124, i32 124, i32 124, i32 124, i32 124, i32 124>
  %49 = call <8 x i32> @llvm.smin.v8i32(<8 x i32> %48, <8 x i32> zeroinitializer)
  %50 = bitcast <8 x float> %47 to <8 x i32>
  %51 = sub <8 x i32> %43, %49
  %52 = shl <8 x i32> %51, <i32 23, i32 23, i32 23, i32 23, i32 23, i32 23, i32 23, i32 23>
  %53 = add <8 x i32> %52, %50
  %54 = bitcast <8 x i32> %53 to <8 x float>
  %55 = shl <8 x i32> %49, <i32 23, i32 23, i32 23, i32 23, i32 23, i32 23, i32 23, i32 23>
  %56 = add <8 x i32> %55, <i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216>
  %57 = bitcast <8 x i32> %56 to <8 x float>
  %58 = fmul reassoc ninf nsz <8 x float> %54, %57
  %59 = bitcast <8 x float> %wide.load to <8 x i32>
  %60 = bitcast <8 x float> %58 to <8 x i32>
  %61 = icmp sgt <8 x i32> %59, <i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335>
  %62 = select <8 x i1> %61, <8 x i32> <i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040>, <8 x i32> %60
  %63 = and <8 x i32> %59, <i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647>
  %64 = icmp ugt <8 x i32> %63, <i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040>
  %65 = select <8 x i1> %64, <8 x i32> %59, <8 x i32> %62
  %66 = bitcast <8 x i32> %65 to <8 x float>
  %67 = fcmp reassoc ninf nsz ogt <8 x float> %66, <float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00>
  %68 = select <8 x i1> %67, <8 x float> %66, <8 x float> %18
  %69 = fmul reassoc ninf nsz <8 x float> %wide.load, %wide.load
  %70 = xor <8 x i1> %16, <i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true>
  %71 = select <8 x i1> %16, <8 x i1> <i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true>, <8 x i1> %17
  %72 = xor <8 x i1> %71, <i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true>
  %73 = select <8 x i1> %70, <8 x i1> %17, <8 x i1> zeroinitializer
  %predphi3 = select <8 x i1> %73, <8 x float> %68, <8 x float> %18
  %predphi4 = select <8 x i1> %16, <8 x float> %69, <8 x float> %predphi3
  %74 = fcmp reassoc ninf nsz ule <8 x float> %18, <float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00>
  %75 = fcmp reassoc ninf nsz ogt <8 x float> %18, zeroinitializer
  %76 = fmul reassoc ninf nsz <8 x float> %wide.load, <float 2.500000e-01, float 2.500000e-01, float 2.500000e-01, float 2.500000e-01, float 2.500000e-01, float 2.500000e-01, float 2.500000e-01, float 2.500000e-01>
  %77 = fcmp reassoc ninf nsz olt <8 x float> %18, <float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02>
  %78 = select <8 x i1> %77, <8 x float> <float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02>, <8 x float> %18
  %79 = fcmp reassoc ninf nsz ogt <8 x float> %78, <float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01>
  %80 = select <8 x i1> %79, <8 x float> <float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01>, <8 x float> %78
  %81 = fmul reassoc ninf nsz <8 x float> %80, <float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000>
  %82 = fadd reassoc ninf nsz <8 x float> %81, <float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01>
  %83 = call reassoc ninf nsz <8 x float> @llvm.floor.v8f32(<8 x float> %82)
  %84 = fmul reassoc ninf nsz <8 x float> %83, <float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000>
  %85 = fsub reassoc ninf nsz <8 x float> %80, %84
  %86 = fcmp reassoc ninf nsz olt <8 x float> %85, <float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000>
  %87 = select <8 x i1> %86, <8 x float> <float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000>, <8 x float> %85
  %88 = fmul reassoc ninf nsz <8 x float> %83, <float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000>
  %89 = fsub reassoc ninf nsz <8 x float> %87, %88
  %90 = fmul reassoc ninf nsz <8 x float> %89, <float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000>
  %91 = fadd reassoc ninf nsz <8 x float> %90, <float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000>
  %92 = fmul reassoc ninf nsz <8 x float> %91, %89
  %93 = fadd reassoc ninf nsz <8 x float> %92, <float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000>
  %94 = fmul reassoc ninf nsz <8 x float> %93, %89
  %95 = fadd reassoc ninf nsz <8 x float> %94, <float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000>
  %96 = fmul reassoc ninf nsz <8 x float> %95, %89
  %97 = fadd reassoc ninf nsz <8 x float> %96, <float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01>
  %98 = fmul reassoc ninf nsz <8 x float> %89, %89
  %99 = fmul reassoc ninf nsz <8 x float> %98, %97
  %100 = fsub reassoc ninf nsz <8 x float> %99, %88
  %101 = fptosi <8 x float> %83 to <8 x i32>
  %102 = fcmp reassoc ninf nsz olt <8 x float> %100, <float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000>
  %103 = select <8 x i1> %102, <8 x float> <float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000>, <8 x float> %100
  %104 = fadd reassoc ninf nsz <8 x float> %87, <float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00>
  %105 = fadd reassoc ninf nsz <8 x float> %104, %103
  %106 = add <8 x i32> %101, <i32 124, i32 124, i32 124, i32 124, i32 124, i32 124, i32 124, i32 124>
  %107 = call <8 x i32> @llvm.smin.v8i32(<8 x i32> %106, <8 x i32> zeroinitializer)
  %108 = bitcast <8 x float> %105 to <8 x i32>
  %109 = sub <8 x i32> %101, %107
  %110 = shl <8 x i32> %109, <i32 23, i32 23, i32 23, i32 23, i32 23, i32 23, i32 23, i32 23>
  %111 = add <8 x i32> %110, %108
  %112 = bitcast <8 x i32> %111 to <8 x float>
  %113 = shl <8 x i32> %107, <i32 23, i32 23, i32 23, i32 23, i32 23, i32 23, i32 23, i32 23>
  %114 = add <8 x i32> %113, <i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216>
  %115 = bitcast <8 x i32> %114 to <8 x float>
  %116 = fmul reassoc ninf nsz <8 x float> %112, %115
  %117 = bitcast <8 x float> %18 to <8 x i32>
  %118 = bitcast <8 x float> %116 to <8 x i32>
  %119 = icmp sgt <8 x i32> %117, <i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335>
  %120 = select <8 x i1> %119, <8 x i32> <i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040>, <8 x i32> %118
  %121 = and <8 x i32> %117, <i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647>
  %122 = icmp ugt <8 x i32> %121, <i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040>
  %123 = select <8 x i1> %122, <8 x i32> %117, <8 x i32> %120
  %124 = bitcast <8 x i32> %123 to <8 x float>
  %125 = fcmp reassoc ninf nsz ogt <8 x float> %124, <float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00>
  %126 = select <8 x i1> %125, <8 x float> %124, <8 x float> %76
  %127 = fmul reassoc ninf nsz <8 x float> %18, %18
  %128 = or <8 x i1> %73, %72
  %129 = or <8 x i1> %128, %16
  %130 = select <8 x i1> %129, <8 x i1> %74, <8 x i1> zeroinitializer
  %131 = select <8 x i1> %130, <8 x i1> %75, <8 x i1> zeroinitializer
  %132 = xor <8 x i1> %75, <i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true>
  %133 = select <8 x i1> %130, <8 x i1> %132, <8 x i1> zeroinitializer
  %predphi5 = select <8 x i1> %131, <8 x float> %126, <8 x float> %127
  %predphi6 = select <8 x i1> %133, <8 x float> %76, <8 x float> %predphi5
  %134 = fmul reassoc ninf nsz <8 x float> %predphi6, %predphi4
  %scevgep45 = getelementptr float, float* %scevgep36, i64 %index
  %scevgep4546 = bitcast float* %scevgep45 to <8 x float>*
  %scevgep47 = getelementptr <8 x float>, <8 x float>* %scevgep4546, i64 -3
  store <8 x float> %134, <8 x float>* %scevgep47, align 4
  %scevgep30 = getelementptr <8 x float>, <8 x float>* %scevgep3334, i64 -2
  %wide.load.1 = load <8 x float>, <8 x float>* %scevgep30, align 4
  %135 = fcmp reassoc ninf nsz ogt <8 x float> %wide.load.1, <float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00>
  %136 = fcmp reassoc ninf nsz ogt <8 x float> %wide.load.1, zeroinitializer
  %137 = fmul reassoc ninf nsz <8 x float> %wide.load.1, <float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01>
  %138 = fcmp reassoc ninf nsz olt <8 x float> %wide.load.1, <float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02>
  %139 = select <8 x i1> %138, <8 x float> <float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02>, <8 x float> %wide.load.1
  %140 = fcmp reassoc ninf nsz ogt <8 x float> %139, <float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01>
  %141 = select <8 x i1> %140, <8 x float> <float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01>, <8 x float> %139
  %142 = fmul reassoc ninf nsz <8 x float> %141, <float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000>
  %143 = fadd reassoc ninf nsz <8 x float> %142, <float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01>
  %144 = call reassoc ninf nsz <8 x float> @llvm.floor.v8f32(<8 x float> %143)
  %145 = fmul reassoc ninf nsz <8 x float> %144, <float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000>
  %146 = fsub reassoc ninf nsz <8 x float> %141, %145
  %147 = fcmp reassoc ninf nsz olt <8 x float> %146, <float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000>
  %148 = select <8 x i1> %147, <8 x float> <float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000>, <8 x float> %146
  %149 = fmul reassoc ninf nsz <8 x float> %144, <float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000>
  %150 = fsub reassoc ninf nsz <8 x float> %148, %149
  %151 = fmul reassoc ninf nsz <8 x float> %150, <float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000>
  %152 = fadd reassoc ninf nsz <8 x float> %151, <float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000>
  %153 = fmul reassoc ninf nsz <8 x float> %152, %150
  %154 = fadd reassoc ninf nsz <8 x float> %153, <float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000>
  %155 = fmul reassoc ninf nsz <8 x float> %154, %150
  %156 = fadd reassoc ninf nsz <8 x float> %155, <float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000>
  %157 = fmul reassoc ninf nsz <8 x float> %156, %150
  %158 = fadd reassoc ninf nsz <8 x float> %157, <float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01>
  %159 = fmul reassoc ninf nsz <8 x float> %150, %150
  %160 = fmul reassoc ninf nsz <8 x float> %159, %158
  %161 = fsub reassoc ninf nsz <8 x float> %160, %149
  %162 = fptosi <8 x float> %144 to <8 x i32>
  %163 = fcmp reassoc ninf nsz olt <8 x float> %161, <float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000>
  %164 = select <8 x i1> %163, <8 x float> <float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000>, <8 x float> %161
  %165 = fadd reassoc ninf nsz <8 x float> %148, <float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00>
  %166 = fadd reassoc ninf nsz <8 x float> %165, %164
  %167 = add <8 x i32> %162, <i32 124, i32 124, i32 124, i32 124, i32 124, i32 124, i32 124, i32 124>
  %168 = call <8 x i32> @llvm.smin.v8i32(<8 x i32> %167, <8 x i32> zeroinitializer)
  %169 = bitcast <8 x float> %166 to <8 x i32>
  %170 = sub <8 x i32> %162, %168
  %171 = shl <8 x i32> %170, <i32 23, i32 23, i32 23, i32 23, i32 23, i32 23, i32 23, i32 23>
  %172 = add <8 x i32> %171, %169
  %173 = bitcast <8 x i32> %172 to <8 x float>
  %174 = shl <8 x i32> %168, <i32 23, i32 23, i32 23, i32 23, i32 23, i32 23, i32 23, i32 23>
  %175 = add <8 x i32> %174, <i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216>
  %176 = bitcast <8 x i32> %175 to <8 x float>
  %177 = fmul reassoc ninf nsz <8 x float> %173, %176
  %178 = bitcast <8 x float> %wide.load.1 to <8 x i32>
  %179 = bitcast <8 x float> %177 to <8 x i32>
  %180 = icmp sgt <8 x i32> %178, <i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335>
  %181 = select <8 x i1> %180, <8 x i32> <i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040>, <8 x i32> %179
  %182 = and <8 x i32> %178, <i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647>
  %183 = icmp ugt <8 x i32> %182, <i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040>
  %184 = select <8 x i1> %183, <8 x i32> %178, <8 x i32> %181
  %185 = bitcast <8 x i32> %184 to <8 x float>
  %186 = fcmp reassoc ninf nsz ogt <8 x float> %185, <float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00>
  %187 = select <8 x i1> %186, <8 x float> %185, <8 x float> %137
  %188 = fmul reassoc ninf nsz <8 x float> %wide.load.1, %wide.load.1
  %189 = xor <8 x i1> %135, <i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true>
  %190 = select <8 x i1> %135, <8 x i1> <i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true>, <8 x i1> %136
  %191 = xor <8 x i1> %190, <i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true>
  %192 = select <8 x i1> %189, <8 x i1> %136, <8 x i1> zeroinitializer
  %predphi3.1 = select <8 x i1> %192, <8 x float> %187, <8 x float> %137
  %predphi4.1 = select <8 x i1> %135, <8 x float> %188, <8 x float> %predphi3.1
  %193 = fcmp reassoc ninf nsz ule <8 x float> %137, <float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00>
  %194 = fcmp reassoc ninf nsz ogt <8 x float> %137, zeroinitializer
  %195 = fmul reassoc ninf nsz <8 x float> %wide.load.1, <float 2.500000e-01, float 2.500000e-01, float 2.500000e-01, float 2.500000e-01, float 2.500000e-01, float 2.500000e-01, float 2.500000e-01, float 2.500000e-01>
  %196 = fcmp reassoc ninf nsz olt <8 x float> %137, <float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02>
  %197 = select <8 x i1> %196, <8 x float> <float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02>, <8 x float> %137
  %198 = fcmp reassoc ninf nsz ogt <8 x float> %197, <float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01>
  %199 = select <8 x i1> %198, <8 x float> <float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01>, <8 x float> %197
  %200 = fmul reassoc ninf nsz <8 x float> %199, <float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000>
  %201 = fadd reassoc ninf nsz <8 x float> %200, <float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01>
  %202 = call reassoc ninf nsz <8 x float> @llvm.floor.v8f32(<8 x float> %201)
  %203 = fmul reassoc ninf nsz <8 x float> %202, <float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000>
  %204 = fsub reassoc ninf nsz <8 x float> %199, %203
  %205 = fcmp reassoc ninf nsz olt <8 x float> %204, <float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000>
  %206 = select <8 x i1> %205, <8 x float> <float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000>, <8 x float> %204
  %207 = fmul reassoc ninf nsz <8 x float> %202, <float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000>
  %208 = fsub reassoc ninf nsz <8 x float> %206, %207
  %209 = fmul reassoc ninf nsz <8 x float> %208, <float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000>
  %210 = fadd reassoc ninf nsz <8 x float> %209, <float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000>
  %211 = fmul reassoc ninf nsz <8 x float> %210, %208
  %212 = fadd reassoc ninf nsz <8 x float> %211, <float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000>
  %213 = fmul reassoc ninf nsz <8 x float> %212, %208
  %214 = fadd reassoc ninf nsz <8 x float> %213, <float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000>
  %215 = fmul reassoc ninf nsz <8 x float> %214, %208
  %216 = fadd reassoc ninf nsz <8 x float> %215, <float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01>
  %217 = fmul reassoc ninf nsz <8 x float> %208, %208
  %218 = fmul reassoc ninf nsz <8 x float> %217, %216
  %219 = fsub reassoc ninf nsz <8 x float> %218, %207
  %220 = fptosi <8 x float> %202 to <8 x i32>
  %221 = fcmp reassoc ninf nsz olt <8 x float> %219, <float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000>
  %222 = select <8 x i1> %221, <8 x float> <float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000>, <8 x float> %219
  %223 = fadd reassoc ninf nsz <8 x float> %206, <float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00>
  %224 = fadd reassoc ninf nsz <8 x float> %223, %222
  %225 = add <8 x i32> %220, <i32 124, i32 124, i32 124, i32 124, i32 124, i32 124, i32 124, i32 124>
  %226 = call <8 x i32> @llvm.smin.v8i32(<8 x i32> %225, <8 x i32> zeroinitializer)
  %227 = bitcast <8 x float> %224 to <8 x i32>
  %228 = sub <8 x i32> %220, %226
  %229 = shl <8 x i32> %228, <i32 23, i32 23, i32 23, i32 23, i32 23, i32 23, i32 23, i32 23>
  %230 = add <8 x i32> %229, %227
  %231 = bitcast <8 x i32> %230 to <8 x float>
  %232 = shl <8 x i32> %226, <i32 23, i32 23, i32 23, i32 23, i32 23, i32 23, i32 23, i32 23>
  %233 = add <8 x i32> %232, <i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216>
  %234 = bitcast <8 x i32> %233 to <8 x float>
  %235 = fmul reassoc ninf nsz <8 x float> %231, %234
  %236 = bitcast <8 x float> %137 to <8 x i32>
  %237 = bitcast <8 x float> %235 to <8 x i32>
  %238 = icmp sgt <8 x i32> %236, <i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335>
  %239 = select <8 x i1> %238, <8 x i32> <i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040>, <8 x i32> %237
  %240 = and <8 x i32> %236, <i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647>
  %241 = icmp ugt <8 x i32> %240, <i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040>
  %242 = select <8 x i1> %241, <8 x i32> %236, <8 x i32> %239
  %243 = bitcast <8 x i32> %242 to <8 x float>
  %244 = fcmp reassoc ninf nsz ogt <8 x float> %243, <float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00>
  %245 = select <8 x i1> %244, <8 x float> %243, <8 x float> %195
  %246 = fmul reassoc ninf nsz <8 x float> %137, %137
  %247 = or <8 x i1> %192, %191
  %248 = or <8 x i1> %247, %135
  %249 = select <8 x i1> %248, <8 x i1> %193, <8 x i1> zeroinitializer
  %250 = select <8 x i1> %249, <8 x i1> %194, <8 x i1> zeroinitializer
  %251 = xor <8 x i1> %194, <i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true>
  %252 = select <8 x i1> %249, <8 x i1> %251, <8 x i1> zeroinitializer
  %predphi5.1 = select <8 x i1> %250, <8 x float> %245, <8 x float> %246
  %predphi6.1 = select <8 x i1> %252, <8 x float> %195, <8 x float> %predphi5.1
  %253 = fmul reassoc ninf nsz <8 x float> %predphi6.1, %predphi4.1
  %scevgep42 = getelementptr <8 x float>, <8 x float>* %scevgep4546, i64 -2
  store <8 x float> %253, <8 x float>* %scevgep42, align 4
  %scevgep27 = getelementptr <8 x float>, <8 x float>* %scevgep3334, i64 -1
  %wide.load.2 = load <8 x float>, <8 x float>* %scevgep27, align 4
  %254 = fcmp reassoc ninf nsz ogt <8 x float> %wide.load.2, <float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00>
  %255 = fcmp reassoc ninf nsz ogt <8 x float> %wide.load.2, zeroinitializer
  %256 = fmul reassoc ninf nsz <8 x float> %wide.load.2, <float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01>
  %257 = fcmp reassoc ninf nsz olt <8 x float> %wide.load.2, <float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02>
  %258 = select <8 x i1> %257, <8 x float> <float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02>, <8 x float> %wide.load.2
  %259 = fcmp reassoc ninf nsz ogt <8 x float> %258, <float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01>
  %260 = select <8 x i1> %259, <8 x float> <float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01>, <8 x float> %258
  %261 = fmul reassoc ninf nsz <8 x float> %260, <float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000>
  %262 = fadd reassoc ninf nsz <8 x float> %261, <float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01>
  %263 = call reassoc ninf nsz <8 x float> @llvm.floor.v8f32(<8 x float> %262)
  %264 = fmul reassoc ninf nsz <8 x float> %263, <float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000>
  %265 = fsub reassoc ninf nsz <8 x float> %260, %264
  %266 = fcmp reassoc ninf nsz olt <8 x float> %265, <float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000>
  %267 = select <8 x i1> %266, <8 x float> <float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000>, <8 x float> %265
  %268 = fmul reassoc ninf nsz <8 x float> %263, <float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000>
  %269 = fsub reassoc ninf nsz <8 x float> %267, %268
  %270 = fmul reassoc ninf nsz <8 x float> %269, <float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000>
  %271 = fadd reassoc ninf nsz <8 x float> %270, <float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000>
  %272 = fmul reassoc ninf nsz <8 x float> %271, %269
  %273 = fadd reassoc ninf nsz <8 x float> %272, <float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000>
  %274 = fmul reassoc ninf nsz <8 x float> %273, %269
  %275 = fadd reassoc ninf nsz <8 x float> %274, <float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000>
  %276 = fmul reassoc ninf nsz <8 x float> %275, %269
  %277 = fadd reassoc ninf nsz <8 x float> %276, <float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01>
  %278 = fmul reassoc ninf nsz <8 x float> %269, %269
  %279 = fmul reassoc ninf nsz <8 x float> %278, %277
  %280 = fsub reassoc ninf nsz <8 x float> %279, %268
  %281 = fptosi <8 x float> %263 to <8 x i32>
  %282 = fcmp reassoc ninf nsz olt <8 x float> %280, <float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000>
  %283 = select <8 x i1> %282, <8 x float> <float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000>, <8 x float> %280
  %284 = fadd reassoc ninf nsz <8 x float> %267, <float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00>
  %285 = fadd reassoc ninf nsz <8 x float> %284, %283
  %286 = add <8 x i32> %281, <i32 124, i32 124, i32 124, i32 124, i32 124, i32 124, i32 124, i32 124>
  %287 = call <8 x i32> @llvm.smin.v8i32(<8 x i32> %286, <8 x i32> zeroinitializer)
  %288 = bitcast <8 x float> %285 to <8 x i32>
  %289 = sub <8 x i32> %281, %287
  %290 = shl <8 x i32> %289, <i32 23, i32 23, i32 23, i32 23, i32 23, i32 23, i32 23, i32 23>
  %291 = add <8 x i32> %290, %288
  %292 = bitcast <8 x i32> %291 to <8 x float>
  %293 = shl <8 x i32> %287, <i32 23, i32 23, i32 23, i32 23, i32 23, i32 23, i32 23, i32 23>
  %294 = add <8 x i32> %293, <i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216>
  %295 = bitcast <8 x i32> %294 to <8 x float>
  %296 = fmul reassoc ninf nsz <8 x float> %292, %295
  %297 = bitcast <8 x float> %wide.load.2 to <8 x i32>
  %298 = bitcast <8 x float> %296 to <8 x i32>
  %299 = icmp sgt <8 x i32> %297, <i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335>
  %300 = select <8 x i1> %299, <8 x i32> <i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040>, <8 x i32> %298
  %301 = and <8 x i32> %297, <i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647>
  %302 = icmp ugt <8 x i32> %301, <i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040>
  %303 = select <8 x i1> %302, <8 x i32> %297, <8 x i32> %300
  %304 = bitcast <8 x i32> %303 to <8 x float>
  %305 = fcmp reassoc ninf nsz ogt <8 x float> %304, <float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00>
  %306 = select <8 x i1> %305, <8 x float> %304, <8 x float> %256
  %307 = fmul reassoc ninf nsz <8 x float> %wide.load.2, %wide.load.2
  %308 = xor <8 x i1> %254, <i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true>
  %309 = select <8 x i1> %254, <8 x i1> <i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true>, <8 x i1> %255
  %310 = xor <8 x i1> %309, <i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true>
  %311 = select <8 x i1> %308, <8 x i1> %255, <8 x i1> zeroinitializer
  %predphi3.2 = select <8 x i1> %311, <8 x float> %306, <8 x float> %256
  %predphi4.2 = select <8 x i1> %254, <8 x float> %307, <8 x float> %predphi3.2
  %312 = fcmp reassoc ninf nsz ule <8 x float> %256, <float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00>
  %313 = fcmp reassoc ninf nsz ogt <8 x float> %256, zeroinitializer
  %314 = fmul reassoc ninf nsz <8 x float> %wide.load.2, <float 2.500000e-01, float 2.500000e-01, float 2.500000e-01, float 2.500000e-01, float 2.500000e-01, float 2.500000e-01, float 2.500000e-01, float 2.500000e-01>
  %315 = fcmp reassoc ninf nsz olt <8 x float> %256, <float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02>
  %316 = select <8 x i1> %315, <8 x float> <float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02>, <8 x float> %256
  %317 = fcmp reassoc ninf nsz ogt <8 x float> %316, <float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01>
  %318 = select <8 x i1> %317, <8 x float> <float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01>, <8 x float> %316
  %319 = fmul reassoc ninf nsz <8 x float> %318, <float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000>
  %320 = fadd reassoc ninf nsz <8 x float> %319, <float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01>
  %321 = call reassoc ninf nsz <8 x float> @llvm.floor.v8f32(<8 x float> %320)
  %322 = fmul reassoc ninf nsz <8 x float> %321, <float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000>
  %323 = fsub reassoc ninf nsz <8 x float> %318, %322
  %324 = fcmp reassoc ninf nsz olt <8 x float> %323, <float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000>
  %325 = select <8 x i1> %324, <8 x float> <float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000>, <8 x float> %323
  %326 = fmul reassoc ninf nsz <8 x float> %321, <float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000>
  %327 = fsub reassoc ninf nsz <8 x float> %325, %326
  %328 = fmul reassoc ninf nsz <8 x float> %327, <float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000>
  %329 = fadd reassoc ninf nsz <8 x float> %328, <float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000>
  %330 = fmul reassoc ninf nsz <8 x float> %329, %327
  %331 = fadd reassoc ninf nsz <8 x float> %330, <float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000>
  %332 = fmul reassoc ninf nsz <8 x float> %331, %327
  %333 = fadd reassoc ninf nsz <8 x float> %332, <float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000>
  %334 = fmul reassoc ninf nsz <8 x float> %333, %327
  %335 = fadd reassoc ninf nsz <8 x float> %334, <float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01>
  %336 = fmul reassoc ninf nsz <8 x float> %327, %327
  %337 = fmul reassoc ninf nsz <8 x float> %336, %335
  %338 = fsub reassoc ninf nsz <8 x float> %337, %326
  %339 = fptosi <8 x float> %321 to <8 x i32>
  %340 = fcmp reassoc ninf nsz olt <8 x float> %338, <float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000>
  %341 = select <8 x i1> %340, <8 x float> <float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000>, <8 x float> %338
  %342 = fadd reassoc ninf nsz <8 x float> %325, <float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00>
  %343 = fadd reassoc ninf nsz <8 x float> %342, %341
  %344 = add <8 x i32> %339, <i32 124, i32 124, i32 124, i32 124, i32 124, i32 124, i32 124, i32 124>
  %345 = call <8 x i32> @llvm.smin.v8i32(<8 x i32> %344, <8 x i32> zeroinitializer)
  %346 = bitcast <8 x float> %343 to <8 x i32>
  %347 = sub <8 x i32> %339, %345
  %348 = shl <8 x i32> %347, <i32 23, i32 23, i32 23, i32 23, i32 23, i32 23, i32 23, i32 23>
  %349 = add <8 x i32> %348, %346
  %350 = bitcast <8 x i32> %349 to <8 x float>
  %351 = shl <8 x i32> %345, <i32 23, i32 23, i32 23, i32 23, i32 23, i32 23, i32 23, i32 23>
  %352 = add <8 x i32> %351, <i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216>
  %353 = bitcast <8 x i32> %352 to <8 x float>
  %354 = fmul reassoc ninf nsz <8 x float> %350, %353
  %355 = bitcast <8 x float> %256 to <8 x i32>
  %356 = bitcast <8 x float> %354 to <8 x i32>
  %357 = icmp sgt <8 x i32> %355, <i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335>
  %358 = select <8 x i1> %357, <8 x i32> <i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040>, <8 x i32> %356
  %359 = and <8 x i32> %355, <i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647>
  %360 = icmp ugt <8 x i32> %359, <i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040>
  %361 = select <8 x i1> %360, <8 x i32> %355, <8 x i32> %358
  %362 = bitcast <8 x i32> %361 to <8 x float>
  %363 = fcmp reassoc ninf nsz ogt <8 x float> %362, <float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00>
  %364 = select <8 x i1> %363, <8 x float> %362, <8 x float> %314
  %365 = fmul reassoc ninf nsz <8 x float> %256, %256
  %366 = or <8 x i1> %311, %310
  %367 = or <8 x i1> %366, %254
  %368 = select <8 x i1> %367, <8 x i1> %312, <8 x i1> zeroinitializer
  %369 = select <8 x i1> %368, <8 x i1> %313, <8 x i1> zeroinitializer
  %370 = xor <8 x i1> %313, <i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true>
  %371 = select <8 x i1> %368, <8 x i1> %370, <8 x i1> zeroinitializer
  %predphi5.2 = select <8 x i1> %369, <8 x float> %364, <8 x float> %365
  %predphi6.2 = select <8 x i1> %371, <8 x float> %314, <8 x float> %predphi5.2
  %372 = fmul reassoc ninf nsz <8 x float> %predphi6.2, %predphi4.2
  %scevgep39 = getelementptr <8 x float>, <8 x float>* %scevgep4546, i64 -1
  store <8 x float> %372, <8 x float>* %scevgep39, align 4
  %wide.load.3 = load <8 x float>, <8 x float>* %scevgep3334, align 4
  %373 = fcmp reassoc ninf nsz ogt <8 x float> %wide.load.3, <float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00>
  %374 = fcmp reassoc ninf nsz ogt <8 x float> %wide.load.3, zeroinitializer
  %375 = fmul reassoc ninf nsz <8 x float> %wide.load.3, <float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01>
  %376 = fcmp reassoc ninf nsz olt <8 x float> %wide.load.3, <float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02>
  %377 = select <8 x i1> %376, <8 x float> <float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02>, <8 x float> %wide.load.3
  %378 = fcmp reassoc ninf nsz ogt <8 x float> %377, <float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01>
  %379 = select <8 x i1> %378, <8 x float> <float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01>, <8 x float> %377
  %380 = fmul reassoc ninf nsz <8 x float> %379, <float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000>
  %381 = fadd reassoc ninf nsz <8 x float> %380, <float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01>
  %382 = call reassoc ninf nsz <8 x float> @llvm.floor.v8f32(<8 x float> %381)
  %383 = fmul reassoc ninf nsz <8 x float> %382, <float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000>
  %384 = fsub reassoc ninf nsz <8 x float> %379, %383
  %385 = fcmp reassoc ninf nsz olt <8 x float> %384, <float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000>
  %386 = select <8 x i1> %385, <8 x float> <float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000>, <8 x float> %384
  %387 = fmul reassoc ninf nsz <8 x float> %382, <float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000>
  %388 = fsub reassoc ninf nsz <8 x float> %386, %387
  %389 = fmul reassoc ninf nsz <8 x float> %388, <float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000>
  %390 = fadd reassoc ninf nsz <8 x float> %389, <float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000>
  %391 = fmul reassoc ninf nsz <8 x float> %390, %388
  %392 = fadd reassoc ninf nsz <8 x float> %391, <float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000>
  %393 = fmul reassoc ninf nsz <8 x float> %392, %388
  %394 = fadd reassoc ninf nsz <8 x float> %393, <float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000>
  %395 = fmul reassoc ninf nsz <8 x float> %394, %388
  %396 = fadd reassoc ninf nsz <8 x float> %395, <float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01>
  %397 = fmul reassoc ninf nsz <8 x float> %388, %388
  %398 = fmul reassoc ninf nsz <8 x float> %397, %396
  %399 = fsub reassoc ninf nsz <8 x float> %398, %387
  %400 = fptosi <8 x float> %382 to <8 x i32>
  %401 = fcmp reassoc ninf nsz olt <8 x float> %399, <float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000>
  %402 = select <8 x i1> %401, <8 x float> <float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000>, <8 x float> %399
  %403 = fadd reassoc ninf nsz <8 x float> %386, <float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00>
  %404 = fadd reassoc ninf nsz <8 x float> %403, %402
  %405 = add <8 x i32> %400, <i32 124, i32 124, i32 124, i32 124, i32 124, i32 124, i32 124, i32 124>
  %406 = call <8 x i32> @llvm.smin.v8i32(<8 x i32> %405, <8 x i32> zeroinitializer)
  %407 = bitcast <8 x float> %404 to <8 x i32>
  %408 = sub <8 x i32> %400, %406
  %409 = shl <8 x i32> %408, <i32 23, i32 23, i32 23, i32 23, i32 23, i32 23, i32 23, i32 23>
  %410 = add <8 x i32> %409, %407
  %411 = bitcast <8 x i32> %410 to <8 x float>
  %412 = shl <8 x i32> %406, <i32 23, i32 23, i32 23, i32 23, i32 23, i32 23, i32 23, i32 23>
  %413 = add <8 x i32> %412, <i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216>
  %414 = bitcast <8 x i32> %413 to <8 x float>
  %415 = fmul reassoc ninf nsz <8 x float> %411, %414
  %416 = bitcast <8 x float> %wide.load.3 to <8 x i32>
  %417 = bitcast <8 x float> %415 to <8 x i32>
  %418 = icmp sgt <8 x i32> %416, <i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335>
  %419 = select <8 x i1> %418, <8 x i32> <i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040>, <8 x i32> %417
  %420 = and <8 x i32> %416, <i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647>
  %421 = icmp ugt <8 x i32> %420, <i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040>
  %422 = select <8 x i1> %421, <8 x i32> %416, <8 x i32> %419
  %423 = bitcast <8 x i32> %422 to <8 x float>
  %424 = fcmp reassoc ninf nsz ogt <8 x float> %423, <float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00>
  %425 = select <8 x i1> %424, <8 x float> %423, <8 x float> %375
  %426 = fmul reassoc ninf nsz <8 x float> %wide.load.3, %wide.load.3
  %427 = xor <8 x i1> %373, <i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true>
  %428 = select <8 x i1> %373, <8 x i1> <i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true>, <8 x i1> %374
  %429 = xor <8 x i1> %428, <i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true>
  %430 = select <8 x i1> %427, <8 x i1> %374, <8 x i1> zeroinitializer
  %predphi3.3 = select <8 x i1> %430, <8 x float> %425, <8 x float> %375
  %predphi4.3 = select <8 x i1> %373, <8 x float> %426, <8 x float> %predphi3.3
  %431 = fcmp reassoc ninf nsz ule <8 x float> %375, <float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00>
  %432 = fcmp reassoc ninf nsz ogt <8 x float> %375, zeroinitializer
  %433 = fmul reassoc ninf nsz <8 x float> %wide.load.3, <float 2.500000e-01, float 2.500000e-01, float 2.500000e-01, float 2.500000e-01, float 2.500000e-01, float 2.500000e-01, float 2.500000e-01, float 2.500000e-01>
  %434 = fcmp reassoc ninf nsz olt <8 x float> %375, <float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02>
  %435 = select <8 x i1> %434, <8 x float> <float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02>, <8 x float> %375
  %436 = fcmp reassoc ninf nsz ogt <8 x float> %435, <float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01>
  %437 = select <8 x i1> %436, <8 x float> <float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01>, <8 x float> %435
  %438 = fmul reassoc ninf nsz <8 x float> %437, <float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000>
  %439 = fadd reassoc ninf nsz <8 x float> %438, <float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01>
  %440 = call reassoc ninf nsz <8 x float> @llvm.floor.v8f32(<8 x float> %439)
  %441 = fmul reassoc ninf nsz <8 x float> %440, <float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000>
  %442 = fsub reassoc ninf nsz <8 x float> %437, %441
  %443 = fcmp reassoc ninf nsz olt <8 x float> %442, <float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000>
  %444 = select <8 x i1> %443, <8 x float> <float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000>, <8 x float> %442
  %445 = fmul reassoc ninf nsz <8 x float> %440, <float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000>
  %446 = fsub reassoc ninf nsz <8 x float> %444, %445
  %447 = fmul reassoc ninf nsz <8 x float> %446, <float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000>
  %448 = fadd reassoc ninf nsz <8 x float> %447, <float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000>
  %449 = fmul reassoc ninf nsz <8 x float> %448, %446
  %450 = fadd reassoc ninf nsz <8 x float> %449, <float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000>
  %451 = fmul reassoc ninf nsz <8 x float> %450, %446
  %452 = fadd reassoc ninf nsz <8 x float> %451, <float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000>
  %453 = fmul reassoc ninf nsz <8 x float> %452, %446
  %454 = fadd reassoc ninf nsz <8 x float> %453, <float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01>
  %455 = fmul reassoc ninf nsz <8 x float> %446, %446
  %456 = fmul reassoc ninf nsz <8 x float> %455, %454
  %457 = fsub reassoc ninf nsz <8 x float> %456, %445
  %458 = fptosi <8 x float> %440 to <8 x i32>
  %459 = fcmp reassoc ninf nsz olt <8 x float> %457, <float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000>
  %460 = select <8 x i1> %459, <8 x float> <float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000>, <8 x float> %457
  %461 = fadd reassoc ninf nsz <8 x float> %444, <float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00>
  %462 = fadd reassoc ninf nsz <8 x float> %461, %460
  %463 = add <8 x i32> %458, <i32 124, i32 124, i32 124, i32 124, i32 124, i32 124, i32 124, i32 124>
  %464 = call <8 x i32> @llvm.smin.v8i32(<8 x i32> %463, <8 x i32> zeroinitializer)
  %465 = bitcast <8 x float> %462 to <8 x i32>
  %466 = sub <8 x i32> %458, %464
  %467 = shl <8 x i32> %466, <i32 23, i32 23, i32 23, i32 23, i32 23, i32 23, i32 23, i32 23>
  %468 = add <8 x i32> %467, %465
  %469 = bitcast <8 x i32> %468 to <8 x float>
  %470 = shl <8 x i32> %464, <i32 23, i32 23, i32 23, i32 23, i32 23, i32 23, i32 23, i32 23>
  %471 = add <8 x i32> %470, <i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216>
  %472 = bitcast <8 x i32> %471 to <8 x float>
  %473 = fmul reassoc ninf nsz <8 x float> %469, %472
  %474 = bitcast <8 x float> %375 to <8 x i32>
  %475 = bitcast <8 x float> %473 to <8 x i32>
  %476 = icmp sgt <8 x i32> %474, <i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335>
  %477 = select <8 x i1> %476, <8 x i32> <i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040>, <8 x i32> %475
  %478 = and <8 x i32> %474, <i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647>
  %479 = icmp ugt <8 x i32> %478, <i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040>
  %480 = select <8 x i1> %479, <8 x i32> %474, <8 x i32> %477
  %481 = bitcast <8 x i32> %480 to <8 x float>
  %482 = fcmp reassoc ninf nsz ogt <8 x float> %481, <float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00>
  %483 = select <8 x i1> %482, <8 x float> %481, <8 x float> %433
  %484 = fmul reassoc ninf nsz <8 x float> %375, %375
  %485 = or <8 x i1> %430, %429
  %486 = or <8 x i1> %485, %373
  %487 = select <8 x i1> %486, <8 x i1> %431, <8 x i1> zeroinitializer
  %488 = select <8 x i1> %487, <8 x i1> %432, <8 x i1> zeroinitializer
  %489 = xor <8 x i1> %432, <i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true>
  %490 = select <8 x i1> %487, <8 x i1> %489, <8 x i1> zeroinitializer
  %predphi5.3 = select <8 x i1> %488, <8 x float> %483, <8 x float> %484
  %predphi6.3 = select <8 x i1> %490, <8 x float> %433, <8 x float> %predphi5.3
  %491 = fmul reassoc ninf nsz <8 x float> %predphi6.3, %predphi4.3
  store <8 x float> %491, <8 x float>* %scevgep4546, align 4
  %index.next.3 = add i64 %index, 32
  %lsr.iv.next49 = add i64 %lsr.iv48, -4
  %niter.ncmp.3 = icmp eq i64 %lsr.iv.next49, 0
  br i1 %niter.ncmp.3, label %middle.block.unr-lcssa.loopexit, label %vector.body, !llvm.loop !6

middle.block.unr-lcssa.loopexit:                  ; preds = %vector.body
  br label %middle.block.unr-lcssa

middle.block.unr-lcssa:                           ; preds = %middle.block.unr-lcssa.loopexit, %vector.ph
  %index.unr = phi i64 [ 0, %vector.ph ], [ %index.next.3, %middle.block.unr-lcssa.loopexit ]
  %lcmp.mod8.not = icmp eq i64 %xtraiter7, 0
  br i1 %lcmp.mod8.not, label %middle.block, label %vector.body.epil.preheader

vector.body.epil.preheader:                       ; preds = %middle.block.unr-lcssa
  %scevgep17 = getelementptr float, float* %7, i64 %index.unr
  %scevgep1718 = bitcast float* %scevgep17 to i8*
  %scevgep20 = getelementptr float, float* %5, i64 %index.unr
  %scevgep2021 = bitcast float* %scevgep20 to i8*
  %492 = shl nuw nsw i64 %xtraiter7, 5
  br label %vector.body.epil

vector.body.epil:                                 ; preds = %vector.body.epil.preheader, %vector.body.epil
  %lsr.iv = phi i64 [ 0, %vector.body.epil.preheader ], [ %lsr.iv.next, %vector.body.epil ]
  %uglygep22 = getelementptr i8, i8* %scevgep2021, i64 %lsr.iv
  %uglygep2223 = bitcast i8* %uglygep22 to <8 x float>*
  %wide.load.epil = load <8 x float>, <8 x float>* %uglygep2223, align 4
  %493 = fcmp reassoc ninf nsz ogt <8 x float> %wide.load.epil, <float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00>
  %494 = fcmp reassoc ninf nsz ogt <8 x float> %wide.load.epil, zeroinitializer
  %495 = fmul reassoc ninf nsz <8 x float> %wide.load.epil, <float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01>
  %496 = fcmp reassoc ninf nsz olt <8 x float> %wide.load.epil, <float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02>
  %497 = select <8 x i1> %496, <8 x float> <float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02>, <8 x float> %wide.load.epil
  %498 = fcmp reassoc ninf nsz ogt <8 x float> %497, <float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01>
  %499 = select <8 x i1> %498, <8 x float> <float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01>, <8 x float> %497
  %500 = fmul reassoc ninf nsz <8 x float> %499, <float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000>
  %501 = fadd reassoc ninf nsz <8 x float> %500, <float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01>
  %502 = call reassoc ninf nsz <8 x float> @llvm.floor.v8f32(<8 x float> %501)
  %503 = fmul reassoc ninf nsz <8 x float> %502, <float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000>
  %504 = fsub reassoc ninf nsz <8 x float> %499, %503
  %505 = fcmp reassoc ninf nsz olt <8 x float> %504, <float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000>
  %506 = select <8 x i1> %505, <8 x float> <float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000>, <8 x float> %504
  %507 = fmul reassoc ninf nsz <8 x float> %502, <float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000>
  %508 = fsub reassoc ninf nsz <8 x float> %506, %507
  %509 = fmul reassoc ninf nsz <8 x float> %508, <float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000>
  %510 = fadd reassoc ninf nsz <8 x float> %509, <float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000>
  %511 = fmul reassoc ninf nsz <8 x float> %510, %508
  %512 = fadd reassoc ninf nsz <8 x float> %511, <float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000>
  %513 = fmul reassoc ninf nsz <8 x float> %512, %508
  %514 = fadd reassoc ninf nsz <8 x float> %513, <float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000>
  %515 = fmul reassoc ninf nsz <8 x float> %514, %508
  %516 = fadd reassoc ninf nsz <8 x float> %515, <float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01>
  %517 = fmul reassoc ninf nsz <8 x float> %508, %508
  %518 = fmul reassoc ninf nsz <8 x float> %517, %516
  %519 = fsub reassoc ninf nsz <8 x float> %518, %507
  %520 = fptosi <8 x float> %502 to <8 x i32>
  %521 = fcmp reassoc ninf nsz olt <8 x float> %519, <float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000>
  %522 = select <8 x i1> %521, <8 x float> <float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000>, <8 x float> %519
  %523 = fadd reassoc ninf nsz <8 x float> %506, <float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00>
  %524 = fadd reassoc ninf nsz <8 x float> %523, %522
  %525 = add <8 x i32> %520, <i32 124, i32 124, i32 124, i32 124, i32 124, i32 124, i32 124, i32 124>
  %526 = call <8 x i32> @llvm.smin.v8i32(<8 x i32> %525, <8 x i32> zeroinitializer)
  %527 = bitcast <8 x float> %524 to <8 x i32>
  %528 = sub <8 x i32> %520, %526
  %529 = shl <8 x i32> %528, <i32 23, i32 23, i32 23, i32 23, i32 23, i32 23, i32 23, i32 23>
  %530 = add <8 x i32> %529, %527
  %531 = bitcast <8 x i32> %530 to <8 x float>
  %532 = shl <8 x i32> %526, <i32 23, i32 23, i32 23, i32 23, i32 23, i32 23, i32 23, i32 23>
  %533 = add <8 x i32> %532, <i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216>
  %534 = bitcast <8 x i32> %533 to <8 x float>
  %535 = fmul reassoc ninf nsz <8 x float> %531, %534
  %536 = bitcast <8 x float> %wide.load.epil to <8 x i32>
  %537 = bitcast <8 x float> %535 to <8 x i32>
  %538 = icmp sgt <8 x i32> %536, <i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335>
  %539 = select <8 x i1> %538, <8 x i32> <i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040>, <8 x i32> %537
  %540 = and <8 x i32> %536, <i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647>
  %541 = icmp ugt <8 x i32> %540, <i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040>
  %542 = select <8 x i1> %541, <8 x i32> %536, <8 x i32> %539
  %543 = bitcast <8 x i32> %542 to <8 x float>
  %544 = fcmp reassoc ninf nsz ogt <8 x float> %543, <float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00>
  %545 = select <8 x i1> %544, <8 x float> %543, <8 x float> %495
  %546 = fmul reassoc ninf nsz <8 x float> %wide.load.epil, %wide.load.epil
  %547 = xor <8 x i1> %493, <i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true>
  %548 = select <8 x i1> %493, <8 x i1> <i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true>, <8 x i1> %494
  %549 = xor <8 x i1> %548, <i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true>
  %550 = select <8 x i1> %547, <8 x i1> %494, <8 x i1> zeroinitializer
  %predphi3.epil = select <8 x i1> %550, <8 x float> %545, <8 x float> %495
  %predphi4.epil = select <8 x i1> %493, <8 x float> %546, <8 x float> %predphi3.epil
  %551 = fcmp reassoc ninf nsz ule <8 x float> %495, <float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00>
  %552 = fcmp reassoc ninf nsz ogt <8 x float> %495, zeroinitializer
  %553 = fmul reassoc ninf nsz <8 x float> %wide.load.epil, <float 2.500000e-01, float 2.500000e-01, float 2.500000e-01, float 2.500000e-01, float 2.500000e-01, float 2.500000e-01, float 2.500000e-01, float 2.500000e-01>
  %554 = fcmp reassoc ninf nsz olt <8 x float> %495, <float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02>
  %555 = select <8 x i1> %554, <8 x float> <float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02, float -1.040000e+02>, <8 x float> %495
  %556 = fcmp reassoc ninf nsz ogt <8 x float> %555, <float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01>
  %557 = select <8 x i1> %556, <8 x float> <float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01, float 8.900000e+01>, <8 x float> %555
  %558 = fmul reassoc ninf nsz <8 x float> %557, <float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000, float 0x3FF7154760000000>
  %559 = fadd reassoc ninf nsz <8 x float> %558, <float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01>
  %560 = call reassoc ninf nsz <8 x float> @llvm.floor.v8f32(<8 x float> %559)
  %561 = fmul reassoc ninf nsz <8 x float> %560, <float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000, float 0x3FE62E4000000000>
  %562 = fsub reassoc ninf nsz <8 x float> %557, %561
  %563 = fcmp reassoc ninf nsz olt <8 x float> %562, <float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000>
  %564 = select <8 x i1> %563, <8 x float> <float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000>, <8 x float> %562
  %565 = fmul reassoc ninf nsz <8 x float> %560, <float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000, float 0x3EB7F7D1C0000000>
  %566 = fsub reassoc ninf nsz <8 x float> %564, %565
  %567 = fmul reassoc ninf nsz <8 x float> %566, <float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000, float 0x3F56D10FE0000000>
  %568 = fadd reassoc ninf nsz <8 x float> %567, <float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000, float 0x3F8120B640000000>
  %569 = fmul reassoc ninf nsz <8 x float> %568, %566
  %570 = fadd reassoc ninf nsz <8 x float> %569, <float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000, float 0x3FA55551A0000000>
  %571 = fmul reassoc ninf nsz <8 x float> %570, %566
  %572 = fadd reassoc ninf nsz <8 x float> %571, <float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000, float 0x3FC5554DE0000000>
  %573 = fmul reassoc ninf nsz <8 x float> %572, %566
  %574 = fadd reassoc ninf nsz <8 x float> %573, <float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01, float 5.000000e-01>
  %575 = fmul reassoc ninf nsz <8 x float> %566, %566
  %576 = fmul reassoc ninf nsz <8 x float> %575, %574
  %577 = fsub reassoc ninf nsz <8 x float> %576, %565
  %578 = fptosi <8 x float> %560 to <8 x i32>
  %579 = fcmp reassoc ninf nsz olt <8 x float> %577, <float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000>
  %580 = select <8 x i1> %579, <8 x float> <float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000, float 0xC6293E5940000000>, <8 x float> %577
  %581 = fadd reassoc ninf nsz <8 x float> %564, <float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00>
  %582 = fadd reassoc ninf nsz <8 x float> %581, %580
  %583 = add <8 x i32> %578, <i32 124, i32 124, i32 124, i32 124, i32 124, i32 124, i32 124, i32 124>
  %584 = call <8 x i32> @llvm.smin.v8i32(<8 x i32> %583, <8 x i32> zeroinitializer)
  %585 = bitcast <8 x float> %582 to <8 x i32>
  %586 = sub <8 x i32> %578, %584
  %587 = shl <8 x i32> %586, <i32 23, i32 23, i32 23, i32 23, i32 23, i32 23, i32 23, i32 23>
  %588 = add <8 x i32> %587, %585
  %589 = bitcast <8 x i32> %588 to <8 x float>
  %590 = shl <8 x i32> %584, <i32 23, i32 23, i32 23, i32 23, i32 23, i32 23, i32 23, i32 23>
  %591 = add <8 x i32> %590, <i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216, i32 1065353216>
  %592 = bitcast <8 x i32> %591 to <8 x float>
  %593 = fmul reassoc ninf nsz <8 x float> %589, %592
  %594 = bitcast <8 x float> %495 to <8 x i32>
  %595 = bitcast <8 x float> %593 to <8 x i32>
  %596 = icmp sgt <8 x i32> %594, <i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335, i32 1118925335>
  %597 = select <8 x i1> %596, <8 x i32> <i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040>, <8 x i32> %595
  %598 = and <8 x i32> %594, <i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647>
  %599 = icmp ugt <8 x i32> %598, <i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040>
  %600 = select <8 x i1> %599, <8 x i32> %594, <8 x i32> %597
  %601 = bitcast <8 x i32> %600 to <8 x float>
  %602 = fcmp reassoc ninf nsz ogt <8 x float> %601, <float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00>
  %603 = select <8 x i1> %602, <8 x float> %601, <8 x float> %553
  %604 = fmul reassoc ninf nsz <8 x float> %495, %495
  %605 = or <8 x i1> %550, %549
  %606 = or <8 x i1> %605, %493
  %607 = select <8 x i1> %606, <8 x i1> %551, <8 x i1> zeroinitializer
  %608 = select <8 x i1> %607, <8 x i1> %552, <8 x i1> zeroinitializer
  %609 = xor <8 x i1> %552, <i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true>
  %610 = select <8 x i1> %607, <8 x i1> %609, <8 x i1> zeroinitializer
  %predphi5.epil = select <8 x i1> %608, <8 x float> %603, <8 x float> %604
  %predphi6.epil = select <8 x i1> %610, <8 x float> %553, <8 x float> %predphi5.epil
  %611 = fmul reassoc ninf nsz <8 x float> %predphi6.epil, %predphi4.epil
  %uglygep = getelementptr i8, i8* %scevgep1718, i64 %lsr.iv
  %uglygep19 = bitcast i8* %uglygep to <8 x float>*
  store <8 x float> %611, <8 x float>* %uglygep19, align 4
  %lsr.iv.next = add nuw nsw i64 %lsr.iv, 32
  %epil.iter.cmp.not = icmp eq i64 %492, %lsr.iv.next
  br i1 %epil.iter.cmp.not, label %middle.block.loopexit, label %vector.body.epil, !llvm.loop !8

middle.block.loopexit:                            ; preds = %vector.body.epil
  br label %middle.block

middle.block:                                     ; preds = %middle.block.loopexit, %middle.block.unr-lcssa
  %cmp.n = icmp eq i64 %n.vec, %wide.trip.count.i
  br i1 %cmp.n, label %early_returns_in_branches_body_1048576_0.exit, label %for_loop_body.i.preheader

for_loop_body.i.preheader:                        ; preds = %for_loop_body.preheader.i, %middle.block
  %indvars.iv.i.ph = phi i64 [ 0, %for_loop_body.preheader.i ], [ %n.vec, %middle.block ]
  %612 = xor i64 %indvars.iv.i.ph, -1
  %xtraiter = and i64 %wide.trip.count.i, 1
  %lcmp.mod.not = icmp eq i64 %xtraiter, 0
  br i1 %lcmp.mod.not, label %for_loop_body.i.prol.loopexit, label %for_loop_body.i.prol

for_loop_body.i.prol:                             ; preds = %for_loop_body.i.preheader
  %613 = getelementptr float, float* %5, i64 %indvars.iv.i.ph
  %614 = load float, float* %613, align 4
  %615 = fcmp reassoc ninf nsz ogt float %614, 1.000000e+00
  br i1 %615, label %true_block.i.prol, label %false_block.i.prol

false_block.i.prol:                               ; preds = %for_loop_body.i.prol
  %616 = fcmp reassoc ninf nsz ogt float %614, 0.000000e+00
  br i1 %616, label %true_block1.i.prol, label %false_block2.i.prol

false_block2.i.prol:                              ; preds = %false_block.i.prol
  %617 = fmul reassoc ninf nsz float %614, 5.000000e-01
  br label %after_if.i.prol

true_block1.i.prol:                               ; preds = %false_block.i.prol
  %618 = fcmp reassoc ninf nsz olt float %614, -1.040000e+02
  %619 = select reassoc ninf nsz i1 %618, float -1.040000e+02, float %614
  %620 = fcmp reassoc ninf nsz ogt float %619, 8.900000e+01
  %621 = select reassoc ninf nsz i1 %620, float 8.900000e+01, float %619
  %622 = fmul reassoc ninf nsz float %621, 0x3FF7154760000000
  %623 = fadd reassoc ninf nsz float %622, 5.000000e-01
  %624 = tail call reassoc ninf nsz float @llvm.floor.f32(float %623)
  %625 = fmul reassoc ninf nsz float %624, 0x3FE62E4000000000
  %626 = fsub reassoc ninf nsz float %621, %625
  %627 = fcmp reassoc ninf nsz olt float %626, 0xC6293E5940000000
  %628 = select reassoc ninf nsz i1 %627, float 0xC6293E5940000000, float %626
  %629 = fmul reassoc ninf nsz float %624, 0x3EB7F7D1C0000000
  %630 = fsub reassoc ninf nsz float %628, %629
  %631 = fmul reassoc ninf nsz float %630, 0x3F56D10FE0000000
  %632 = fadd reassoc ninf nsz float %631, 0x3F8120B640000000
  %633 = fmul reassoc ninf nsz float %632, %630
  %634 = fadd reassoc ninf nsz float %633, 0x3FA55551A0000000
  %635 = fmul reassoc ninf nsz float %634, %630
  %636 = fadd reassoc ninf nsz float %635, 0x3FC5554DE0000000
  %637 = fmul reassoc ninf nsz float %636, %630
  %638 = fadd reassoc ninf nsz float %637, 5.000000e-01
  %639 = fmul reassoc ninf nsz float %630, %630
  %640 = fmul reassoc ninf nsz float %639, %638
  %641 = fsub reassoc ninf nsz float %640, %629
  %642 = fptosi float %624 to i32
  %643 = fcmp reassoc ninf nsz olt float %641, 0xC6293E5940000000
  %644 = select reassoc ninf nsz i1 %643, float 0xC6293E5940000000, float %641
  %645 = fadd reassoc ninf nsz float %628, 1.000000e+00
  %646 = fadd reassoc ninf nsz float %645, %644
  %647 = add i32 %642, 124
  %648 = tail call i32 @llvm.smin.i32(i32 %647, i32 0)
  %649 = bitcast float %646 to i32
  %650 = sub i32 %642, %648
  %651 = shl i32 %650, 23
  %652 = add i32 %651, %649
  %653 = bitcast i32 %652 to float
  %654 = shl i32 %648, 23
  %655 = add i32 %654, 1065353216
  %656 = bitcast i32 %655 to float
  %657 = fmul reassoc ninf nsz float %653, %656
  %658 = bitcast float %614 to i32
  %659 = bitcast float %657 to i32
  %660 = icmp sgt i32 %658, 1118925335
  %661 = select i1 %660, i32 2139095040, i32 %659
  %662 = and i32 %658, 2147483647
  %663 = icmp ugt i32 %662, 2139095040
  %664 = select i1 %663, i32 %658, i32 %661
  %665 = bitcast i32 %664 to float
  %666 = fcmp reassoc ninf nsz ogt float %665, 2.000000e+00
  %667 = fmul reassoc ninf nsz float %614, 5.000000e-01
  %.0126.i.prol = select i1 %666, float %665, float %667
  br label %after_if.i.prol

true_block.i.prol:                                ; preds = %for_loop_body.i.prol
  %668 = fmul reassoc ninf nsz float %614, %614
  %.pre.i.prol = fmul reassoc ninf nsz float %614, 5.000000e-01
  br label %after_if.i.prol

after_if.i.prol:                                  ; preds = %true_block.i.prol, %true_block1.i.prol, %false_block2.i.prol
  %.pre-phi.i.prol = phi float [ %617, %false_block2.i.prol ], [ %667, %true_block1.i.prol ], [ %.pre.i.prol, %true_block.i.prol ]
  %.0124.i.prol = phi float [ %617, %false_block2.i.prol ], [ %.0126.i.prol, %true_block1.i.prol ], [ %668, %true_block.i.prol ]
  %669 = fcmp reassoc ninf nsz ogt float %.pre-phi.i.prol, 1.000000e+00
  br i1 %669, label %true_block7.i.prol, label %false_block8.i.prol

false_block8.i.prol:                              ; preds = %after_if.i.prol
  %670 = fcmp reassoc ninf nsz ogt float %.pre-phi.i.prol, 0.000000e+00
  br i1 %670, label %true_block10.i.prol, label %false_block11.i.prol

false_block11.i.prol:                             ; preds = %false_block8.i.prol
  %671 = fmul reassoc ninf nsz float %614, 2.500000e-01
  br label %after_if9.i.prol

true_block10.i.prol:                              ; preds = %false_block8.i.prol
  %672 = fcmp reassoc ninf nsz olt float %.pre-phi.i.prol, -1.040000e+02
  %673 = select reassoc ninf nsz i1 %672, float -1.040000e+02, float %.pre-phi.i.prol
  %674 = fcmp reassoc ninf nsz ogt float %673, 8.900000e+01
  %675 = select reassoc ninf nsz i1 %674, float 8.900000e+01, float %673
  %676 = fmul reassoc ninf nsz float %675, 0x3FF7154760000000
  %677 = fadd reassoc ninf nsz float %676, 5.000000e-01
  %678 = tail call reassoc ninf nsz float @llvm.floor.f32(float %677)
  %679 = fmul reassoc ninf nsz float %678, 0x3FE62E4000000000
  %680 = fsub reassoc ninf nsz float %675, %679
  %681 = fcmp reassoc ninf nsz olt float %680, 0xC6293E5940000000
  %682 = select reassoc ninf nsz i1 %681, float 0xC6293E5940000000, float %680
  %683 = fmul reassoc ninf nsz float %678, 0x3EB7F7D1C0000000
  %684 = fsub reassoc ninf nsz float %682, %683
  %685 = fmul reassoc ninf nsz float %684, 0x3F56D10FE0000000
  %686 = fadd reassoc ninf nsz float %685, 0x3F8120B640000000
  %687 = fmul reassoc ninf nsz float %686, %684
  %688 = fadd reassoc ninf nsz float %687, 0x3FA55551A0000000
  %689 = fmul reassoc ninf nsz float %688, %684
  %690 = fadd reassoc ninf nsz float %689, 0x3FC5554DE0000000
  %691 = fmul reassoc ninf nsz float %690, %684
  %692 = fadd reassoc ninf nsz float %691, 5.000000e-01
  %693 = fmul reassoc ninf nsz float %684, %684
  %694 = fmul reassoc ninf nsz float %693, %692
  %695 = fsub reassoc ninf nsz float %694, %683
  %696 = fptosi float %678 to i32
  %697 = fcmp reassoc ninf nsz olt float %695, 0xC6293E5940000000
  %698 = select reassoc ninf nsz i1 %697, float 0xC6293E5940000000, float %695
  %699 = fadd reassoc ninf nsz float %682, 1.000000e+00
  %700 = fadd reassoc ninf nsz float %699, %698
  %701 = add i32 %696, 124
  %702 = tail call i32 @llvm.smin.i32(i32 %701, i32 0)
  %703 = bitcast float %700 to i32
  %704 = sub i32 %696, %702
  %705 = shl i32 %704, 23
  %706 = add i32 %705, %703
  %707 = bitcast i32 %706 to float
  %708 = shl i32 %702, 23
  %709 = add i32 %708, 1065353216
  %710 = bitcast i32 %709 to float
  %711 = fmul reassoc ninf nsz float %707, %710
  %712 = bitcast float %.pre-phi.i.prol to i32
  %713 = bitcast float %711 to i32
  %714 = icmp sgt i32 %712, 1118925335
  %715 = select i1 %714, i32 2139095040, i32 %713
  %716 = and i32 %712, 2147483647
  %717 = icmp ugt i32 %716, 2139095040
  %718 = select i1 %717, i32 %712, i32 %715
  %719 = bitcast i32 %718 to float
  %720 = fcmp reassoc ninf nsz ogt float %719, 2.000000e+00
  %721 = fmul reassoc ninf nsz float %614, 2.500000e-01
  %.0.i.prol = select i1 %720, float %719, float %721
  br label %after_if9.i.prol

true_block7.i.prol:                               ; preds = %after_if.i.prol
  %722 = fmul reassoc ninf nsz float %.pre-phi.i.prol, %.pre-phi.i.prol
  br label %after_if9.i.prol

after_if9.i.prol:                                 ; preds = %true_block7.i.prol, %true_block10.i.prol, %false_block11.i.prol
  %.0127.i.prol = phi float [ %722, %true_block7.i.prol ], [ %.0.i.prol, %true_block10.i.prol ], [ %671, %false_block11.i.prol ]
  %723 = fmul reassoc ninf nsz float %.0127.i.prol, %.0124.i.prol
  %724 = getelementptr float, float* %7, i64 %indvars.iv.i.ph
  store float %723, float* %724, align 4
  %indvars.iv.next.i.prol = or i64 %indvars.iv.i.ph, 1
  br label %for_loop_body.i.prol.loopexit

for_loop_body.i.prol.loopexit:                    ; preds = %after_if9.i.prol, %for_loop_body.i.preheader
  %indvars.iv.i.unr = phi i64 [ %indvars.iv.i.ph, %for_loop_body.i.preheader ], [ %indvars.iv.next.i.prol, %after_if9.i.prol ]
  %725 = sub nsw i64 0, %wide.trip.count.i
  %726 = icmp eq i64 %612, %725
  br i1 %726, label %early_returns_in_branches_body_1048576_0.exit, label %for_loop_body.i.preheader9

for_loop_body.i.preheader9:                       ; preds = %for_loop_body.i.prol.loopexit
  %scevgep = getelementptr float, float* %7, i64 1
  %scevgep13 = getelementptr float, float* %5, i64 1
  br label %for_loop_body.i

for_loop_body.i:                                  ; preds = %for_loop_body.i.preheader9, %after_if9.i.1
  %indvars.iv.i = phi i64 [ %indvars.iv.next.i.1, %after_if9.i.1 ], [ %indvars.iv.i.unr, %for_loop_body.i.preheader9 ]
  %scevgep15 = getelementptr float, float* %scevgep13, i64 %indvars.iv.i
  %scevgep16 = getelementptr float, float* %scevgep15, i64 -1
  %727 = load float, float* %scevgep16, align 4
  %728 = fcmp reassoc ninf nsz ogt float %727, 1.000000e+00
  br i1 %728, label %true_block.i, label %false_block.i

true_block.i:                                     ; preds = %for_loop_body.i
  %729 = fmul reassoc ninf nsz float %727, %727
  %.pre.i = fmul reassoc ninf nsz float %727, 5.000000e-01
  br label %after_if.i

false_block.i:                                    ; preds = %for_loop_body.i
  %730 = fcmp reassoc ninf nsz ogt float %727, 0.000000e+00
  br i1 %730, label %true_block1.i, label %false_block2.i

after_if.i:                                       ; preds = %false_block2.i, %true_block1.i, %true_block.i
  %.pre-phi.i = phi float [ %782, %false_block2.i ], [ %781, %true_block1.i ], [ %.pre.i, %true_block.i ]
  %.0124.i = phi float [ %782, %false_block2.i ], [ %.0126.i, %true_block1.i ], [ %729, %true_block.i ]
  %731 = fcmp reassoc ninf nsz ogt float %.pre-phi.i, 1.000000e+00
  br i1 %731, label %true_block7.i, label %false_block8.i

true_block1.i:                                    ; preds = %false_block.i
  %732 = fcmp reassoc ninf nsz olt float %727, -1.040000e+02
  %733 = select reassoc ninf nsz i1 %732, float -1.040000e+02, float %727
  %734 = fcmp reassoc ninf nsz ogt float %733, 8.900000e+01
  %735 = select reassoc ninf nsz i1 %734, float 8.900000e+01, float %733
  %736 = fmul reassoc ninf nsz float %735, 0x3FF7154760000000
  %737 = fadd reassoc ninf nsz float %736, 5.000000e-01
  %738 = tail call reassoc ninf nsz float @llvm.floor.f32(float %737)
  %739 = fmul reassoc ninf nsz float %738, 0x3FE62E4000000000
  %740 = fsub reassoc ninf nsz float %735, %739
  %741 = fcmp reassoc ninf nsz olt float %740, 0xC6293E5940000000
  %742 = select reassoc ninf nsz i1 %741, float 0xC6293E5940000000, float %740
  %743 = fmul reassoc ninf nsz float %738, 0x3EB7F7D1C0000000
  %744 = fsub reassoc ninf nsz float %742, %743
  %745 = fmul reassoc ninf nsz float %744, 0x3F56D10FE0000000
  %746 = fadd reassoc ninf nsz float %745, 0x3F8120B640000000
  %747 = fmul reassoc ninf nsz float %746, %744
  %748 = fadd reassoc ninf nsz float %747, 0x3FA55551A0000000
  %749 = fmul reassoc ninf nsz float %748, %744
  %750 = fadd reassoc ninf nsz float %749, 0x3FC5554DE0000000
  %751 = fmul reassoc ninf nsz float %750, %744
  %752 = fadd reassoc ninf nsz float %751, 5.000000e-01
  %753 = fmul reassoc ninf nsz float %744, %744
  %754 = fmul reassoc ninf nsz float %753, %752
  %755 = fsub reassoc ninf nsz float %754, %743
  %756 = fptosi float %738 to i32
  %757 = fcmp reassoc ninf nsz olt float %755, 0xC6293E5940000000
  %758 = select reassoc ninf nsz i1 %757, float 0xC6293E5940000000, float %755
  %759 = fadd reassoc ninf nsz float %742, 1.000000e+00
  %760 = fadd reassoc ninf nsz float %759, %758
  %761 = add i32 %756, 124
  %762 = tail call i32 @llvm.smin.i32(i32 %761, i32 0)
  %763 = bitcast float %760 to i32
  %764 = sub i32 %756, %762
  %765 = shl i32 %764, 23
  %766 = add i32 %765, %763
  %767 = bitcast i32 %766 to float
  %768 = shl i32 %762, 23
  %769 = add i32 %768, 1065353216
  %770 = bitcast i32 %769 to float
  %771 = fmul reassoc ninf nsz float %767, %770
  %772 = bitcast float %727 to i32
  %773 = bitcast float %771 to i32
  %774 = icmp sgt i32 %772, 1118925335
  %775 = select i1 %774, i32 2139095040, i32 %773
  %776 = and i32 %772, 2147483647
  %777 = icmp ugt i32 %776, 2139095040
  %778 = select i1 %777, i32 %772, i32 %775
  %779 = bitcast i32 %778 to float
  %780 = fcmp reassoc ninf nsz ogt float %779, 2.000000e+00
  %781 = fmul reassoc ninf nsz float %727, 5.000000e-01
  %.0126.i = select i1 %780, float %779, float %781
  br label %after_if.i

false_block2.i:                                   ; preds = %false_block.i
  %782 = fmul reassoc ninf nsz float %727, 5.000000e-01
  br label %after_if.i

true_block7.i:                                    ; preds = %after_if.i
  %783 = fmul reassoc ninf nsz float %.pre-phi.i, %.pre-phi.i
  br label %after_if9.i

false_block8.i:                                   ; preds = %after_if.i
  %784 = fcmp reassoc ninf nsz ogt float %.pre-phi.i, 0.000000e+00
  br i1 %784, label %true_block10.i, label %false_block11.i

after_if9.i:                                      ; preds = %false_block11.i, %true_block10.i, %true_block7.i
  %.0127.i = phi float [ %783, %true_block7.i ], [ %.0.i, %true_block10.i ], [ %946, %false_block11.i ]
  %785 = fmul reassoc ninf nsz float %.0127.i, %.0124.i
  %scevgep11 = getelementptr float, float* %scevgep, i64 %indvars.iv.i
  %scevgep12 = getelementptr float, float* %scevgep11, i64 -1
  store float %785, float* %scevgep12, align 4
  %786 = load float, float* %scevgep15, align 4
  %787 = fcmp reassoc ninf nsz ogt float %786, 1.000000e+00
  br i1 %787, label %true_block.i.1, label %false_block.i.1

false_block.i.1:                                  ; preds = %after_if9.i
  %788 = fcmp reassoc ninf nsz ogt float %786, 0.000000e+00
  br i1 %788, label %true_block1.i.1, label %false_block2.i.1

false_block2.i.1:                                 ; preds = %false_block.i.1
  %789 = fmul reassoc ninf nsz float %786, 5.000000e-01
  br label %after_if.i.1

true_block1.i.1:                                  ; preds = %false_block.i.1
  %790 = fcmp reassoc ninf nsz olt float %786, -1.040000e+02
  %791 = select reassoc ninf nsz i1 %790, float -1.040000e+02, float %786
  %792 = fcmp reassoc ninf nsz ogt float %791, 8.900000e+01
  %793 = select reassoc ninf nsz i1 %792, float 8.900000e+01, float %791
  %794 = fmul reassoc ninf nsz float %793, 0x3FF7154760000000
  %795 = fadd reassoc ninf nsz float %794, 5.000000e-01
  %796 = tail call reassoc ninf nsz float @llvm.floor.f32(float %795)
  %797 = fmul reassoc ninf nsz float %796, 0x3FE62E4000000000
  %798 = fsub reassoc ninf nsz float %793, %797
  %799 = fcmp reassoc ninf nsz olt float %798, 0xC6293E5940000000
  %800 = select reassoc ninf nsz i1 %799, float 0xC6293E5940000000, float %798
  %801 = fmul reassoc ninf nsz float %796, 0x3EB7F7D1C0000000
  %802 = fsub reassoc ninf nsz float %800, %801
  %803 = fmul reassoc ninf nsz float %802, 0x3F56D10FE0000000
  %804 = fadd reassoc ninf nsz float %803, 0x3F8120B640000000
  %805 = fmul reassoc ninf nsz float %804, %802
  %806 = fadd reassoc ninf nsz float %805, 0x3FA55551A0000000
  %807 = fmul reassoc ninf nsz float %806, %802
  %808 = fadd reassoc ninf nsz float %807, 0x3FC5554DE0000000
  %809 = fmul reassoc ninf nsz float %808, %802
  %810 = fadd reassoc ninf nsz float %809, 5.000000e-01
  %811 = fmul reassoc ninf nsz float %802, %802
  %812 = fmul reassoc ninf nsz float %811, %810
  %813 = fsub reassoc ninf nsz float %812, %801
  %814 = fptosi float %796 to i32
  %815 = fcmp reassoc ninf nsz olt float %813, 0xC6293E5940000000
  %816 = select reassoc ninf nsz i1 %815, float 0xC6293E5940000000, float %813
  %817 = fadd reassoc ninf nsz float %800, 1.000000e+00
  %818 = fadd reassoc ninf nsz float %817, %816
  %819 = add i32 %814, 124
  %820 = tail call i32 @llvm.smin.i32(i32 %819, i32 0)
  %821 = bitcast float %818 to i32
  %822 = sub i32 %814, %820
  %823 = shl i32 %822, 23
  %824 = add i32 %823, %821
  %825 = bitcast i32 %824 to float
  %826 = shl i32 %820, 23
  %827 = add i32 %826, 1065353216
  %828 = bitcast i32 %827 to float
  %829 = fmul reassoc ninf nsz float %825, %828
  %830 = bitcast float %786 to i32
  %831 = bitcast float %829 to i32
  %832 = icmp sgt i32 %830, 1118925335
  %833 = select i1 %832, i32 2139095040, i32 %831
  %834 = and i32 %830, 2147483647
  %835 = icmp ugt i32 %834, 2139095040
  %836 = select i1 %835, i32 %830, i32 %833
  %837 = bitcast i32 %836 to float
  %838 = fcmp reassoc ninf nsz ogt float %837, 2.000000e+00
  %839 = fmul reassoc ninf nsz float %786, 5.000000e-01
  %.0126.i.1 = select i1 %838, float %837, float %839
  br label %after_if.i.1

true_block.i.1:                                   ; preds = %after_if9.i
  %840 = fmul reassoc ninf nsz float %786, %786
  %.pre.i.1 = fmul reassoc ninf nsz float %786, 5.000000e-01
  br label %after_if.i.1

after_if.i.1:                                     ; preds = %true_block.i.1, %true_block1.i.1, %false_block2.i.1
  %.pre-phi.i.1 = phi float [ %789, %false_block2.i.1 ], [ %839, %true_block1.i.1 ], [ %.pre.i.1, %true_block.i.1 ]
  %.0124.i.1 = phi float [ %789, %false_block2.i.1 ], [ %.0126.i.1, %true_block1.i.1 ], [ %840, %true_block.i.1 ]
  %841 = fcmp reassoc ninf nsz ogt float %.pre-phi.i.1, 1.000000e+00
  br i1 %841, label %true_block7.i.1, label %false_block8.i.1

false_block8.i.1:                                 ; preds = %after_if.i.1
  %842 = fcmp reassoc ninf nsz ogt float %.pre-phi.i.1, 0.000000e+00
  br i1 %842, label %true_block10.i.1, label %false_block11.i.1

false_block11.i.1:                                ; preds = %false_block8.i.1
  %843 = fmul reassoc ninf nsz float %786, 2.500000e-01
  br label %after_if9.i.1

true_block10.i.1:                                 ; preds = %false_block8.i.1
  %844 = fcmp reassoc ninf nsz olt float %.pre-phi.i.1, -1.040000e+02
  %845 = select reassoc ninf nsz i1 %844, float -1.040000e+02, float %.pre-phi.i.1
  %846 = fcmp reassoc ninf nsz ogt float %845, 8.900000e+01
  %847 = select reassoc ninf nsz i1 %846, float 8.900000e+01, float %845
  %848 = fmul reassoc ninf nsz float %847, 0x3FF7154760000000
  %849 = fadd reassoc ninf nsz float %848, 5.000000e-01
  %850 = tail call reassoc ninf nsz float @llvm.floor.f32(float %849)
  %851 = fmul reassoc ninf nsz float %850, 0x3FE62E4000000000
  %852 = fsub reassoc ninf nsz float %847, %851
  %853 = fcmp reassoc ninf nsz olt float %852, 0xC6293E5940000000
  %854 = select reassoc ninf nsz i1 %853, float 0xC6293E5940000000, float %852
  %855 = fmul reassoc ninf nsz float %850, 0x3EB7F7D1C0000000
  %856 = fsub reassoc ninf nsz float %854, %855
  %857 = fmul reassoc ninf nsz float %856, 0x3F56D10FE0000000
  %858 = fadd reassoc ninf nsz float %857, 0x3F8120B640000000
  %859 = fmul reassoc ninf nsz float %858, %856
  %860 = fadd reassoc ninf nsz float %859, 0x3FA55551A0000000
  %861 = fmul reassoc ninf nsz float %860, %856
  %862 = fadd reassoc ninf nsz float %861, 0x3FC5554DE0000000
  %863 = fmul reassoc ninf nsz float %862, %856
  %864 = fadd reassoc ninf nsz float %863, 5.000000e-01
  %865 = fmul reassoc ninf nsz float %856, %856
  %866 = fmul reassoc ninf nsz float %865, %864
  %867 = fsub reassoc ninf nsz float %866, %855
  %868 = fptosi float %850 to i32
  %869 = fcmp reassoc ninf nsz olt float %867, 0xC6293E5940000000
  %870 = select reassoc ninf nsz i1 %869, float 0xC6293E5940000000, float %867
  %871 = fadd reassoc ninf nsz float %854, 1.000000e+00
  %872 = fadd reassoc ninf nsz float %871, %870
  %873 = add i32 %868, 124
  %874 = tail call i32 @llvm.smin.i32(i32 %873, i32 0)
  %875 = bitcast float %872 to i32
  %876 = sub i32 %868, %874
  %877 = shl i32 %876, 23
  %878 = add i32 %877, %875
  %879 = bitcast i32 %878 to float
  %880 = shl i32 %874, 23
  %881 = add i32 %880, 1065353216
  %882 = bitcast i32 %881 to float
  %883 = fmul reassoc ninf nsz float %879, %882
  %884 = bitcast float %.pre-phi.i.1 to i32
  %885 = bitcast float %883 to i32
  %886 = icmp sgt i32 %884, 1118925335
  %887 = select i1 %886, i32 2139095040, i32 %885
  %888 = and i32 %884, 2147483647
  %889 = icmp ugt i32 %888, 2139095040
  %890 = select i1 %889, i32 %884, i32 %887
  %891 = bitcast i32 %890 to float
  %892 = fcmp reassoc ninf nsz ogt float %891, 2.000000e+00
  %893 = fmul reassoc ninf nsz float %786, 2.500000e-01
  %.0.i.1 = select i1 %892, float %891, float %893
  br label %after_if9.i.1

true_block7.i.1:                                  ; preds = %after_if.i.1
  %894 = fmul reassoc ninf nsz float %.pre-phi.i.1, %.pre-phi.i.1
  br label %after_if9.i.1

after_if9.i.1:                                    ; preds = %true_block7.i.1, %true_block10.i.1, %false_block11.i.1
  %.0127.i.1 = phi float [ %894, %true_block7.i.1 ], [ %.0.i.1, %true_block10.i.1 ], [ %843, %false_block11.i.1 ]
  %895 = fmul reassoc ninf nsz float %.0127.i.1, %.0124.i.1
  store float %895, float* %scevgep11, align 4
  %indvars.iv.next.i.1 = add nuw nsw i64 %indvars.iv.i, 2
  %exitcond.not.i.1 = icmp eq i64 %wide.trip.count.i, %indvars.iv.next.i.1
  br i1 %exitcond.not.i.1, label %early_returns_in_branches_body_1048576_0.exit.loopexit, label %for_loop_body.i, !llvm.loop !10

true_block10.i:                                   ; preds = %false_block8.i
  %896 = fcmp reassoc ninf nsz olt float %.pre-phi.i, -1.040000e+02
  %897 = select reassoc ninf nsz i1 %896, float -1.040000e+02, float %.pre-phi.i
  %898 = fcmp reassoc ninf nsz ogt float %897, 8.900000e+01
  %899 = select reassoc ninf nsz i1 %898, float 8.900000e+01, float %897
  %900 = fmul reassoc ninf nsz float %899, 0x3FF7154760000000
  %901 = fadd reassoc ninf nsz float %900, 5.000000e-01
  %902 = tail call reassoc ninf nsz float @llvm.floor.f32(float %901)
  %903 = fmul reassoc ninf nsz float %902, 0x3FE62E4000000000
  %904 = fsub reassoc ninf nsz float %899, %903
  %905 = fcmp reassoc ninf nsz olt float %904, 0xC6293E5940000000
  %906 = select reassoc ninf nsz i1 %905, float 0xC6293E5940000000, float %904
  %907 = fmul reassoc ninf nsz float %902, 0x3EB7F7D1C0000000
  %908 = fsub reassoc ninf nsz float %906, %907
  %909 = fmul reassoc ninf nsz float %908, 0x3F56D10FE0000000
  %910 = fadd reassoc ninf nsz float %909, 0x3F8120B640000000
  %911 = fmul reassoc ninf nsz float %910, %908
  %912 = fadd reassoc ninf nsz float %911, 0x3FA55551A0000000
  %913 = fmul reassoc ninf nsz float %912, %908
  %914 = fadd reassoc ninf nsz float %913, 0x3FC5554DE0000000
  %915 = fmul reassoc ninf nsz float %914, %908
  %916 = fadd reassoc ninf nsz float %915, 5.000000e-01
  %917 = fmul reassoc ninf nsz float %908, %908
  %918 = fmul reassoc ninf nsz float %917, %916
  %919 = fsub reassoc ninf nsz float %918, %907
  %920 = fptosi float %902 to i32
  %921 = fcmp reassoc ninf nsz olt float %919, 0xC6293E5940000000
  %922 = select reassoc ninf nsz i1 %921, float 0xC6293E5940000000, float %919
  %923 = fadd reassoc ninf nsz float %906, 1.000000e+00
  %924 = fadd reassoc ninf nsz float %923, %922
  %925 = add i32 %920, 124
  %926 = tail call i32 @llvm.smin.i32(i32 %925, i32 0)
  %927 = bitcast float %924 to i32
  %928 = sub i32 %920, %926
  %929 = shl i32 %928, 23
  %930 = add i32 %929, %927
  %931 = bitcast i32 %930 to float
  %932 = shl i32 %926, 23
  %933 = add i32 %932, 1065353216
  %934 = bitcast i32 %933 to float
  %935 = fmul reassoc ninf nsz float %931, %934
  %936 = bitcast float %.pre-phi.i to i32
  %937 = bitcast float %935 to i32
  %938 = icmp sgt i32 %936, 1118925335
  %939 = select i1 %938, i32 2139095040, i32 %937
  %940 = and i32 %936, 2147483647
  %941 = icmp ugt i32 %940, 2139095040
  %942 = select i1 %941, i32 %936, i32 %939
  %943 = bitcast i32 %942 to float
  %944 = fcmp reassoc ninf nsz ogt float %943, 2.000000e+00
  %945 = fmul reassoc ninf nsz float %727, 2.500000e-01
  %.0.i = select i1 %944, float %943, float %945
  br label %after_if9.i

false_block11.i:                                  ; preds = %false_block8.i
  %946 = fmul reassoc ninf nsz float %727, 2.500000e-01
  br label %after_if9.i

early_returns_in_branches_body_1048576_0.exit.loopexit: ; preds = %after_if9.i.1
  br label %early_returns_in_branches_body_1048576_0.exit

early_returns_in_branches_body_1048576_0.exit:    ; preds = %early_returns_in_branches_body_1048576_0.exit.loopexit, %for_loop_body.i.prol.loopexit, %middle.block, %entry
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

attributes #0 = { nofree nosync nounwind }
attributes #1 = { mustprogress nocallback nofree nosync nounwind readnone speculatable willreturn }
attributes #2 = { nocallback nofree nosync nounwind readnone speculatable willreturn }

!llvm.ident = !{!0}
!llvm.module.flags = !{!1, !2, !3, !4, !5}

!0 = !{!"Ubuntu clang version 14.0.6"}
!1 = !{i32 1, !"wchar_size", i32 4}
!2 = !{i32 7, !"PIC Level", i32 2}
!3 = !{i32 7, !"PIE Level", i32 2}
!4 = !{i32 7, !"uwtable", i32 1}
!5 = !{i32 7, !"frame-pointer", i32 2}
!6 = distinct !{!6, !7}
!7 = !{!"llvm.loop.isvectorized", i32 1}
!8 = distinct !{!8, !9}
!9 = !{!"llvm.loop.unroll.disable"}
!10 = distinct !{!10, !7}
