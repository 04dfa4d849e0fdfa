; ModuleID = 'kernel'
source_filename = "kernel"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

%struct.RuntimeContext.49 = type { i8*, %struct.LLVMRuntime.48*, i32, i64* }
%struct.LLVMRuntime.48 = type { %struct.PreallocatedMemoryChunk.43, %struct.PreallocatedMemoryChunk.43, i8* (i8*, i64, i64)*, void (i8*)*, void (i8*, ...)*, i32 (i8*, i64, i8*, %struct.__va_list_tag.44*)*, i8*, [512 x i8*], [512 x i64], i8*, void (i8*, i32, i32, i8*, void (i8*, i32, i32)*)*, [1024 x %struct.ListManager.45*], [1024 x %struct.NodeManager.46*], [1024 x i8*], i8*, %struct.RandState.47*, i8*, void (i8*, i8*)*, void (i8*)*, [2048 x i8], [32 x i64], i32, i64, i8*, i32, i32, i64 }
%struct.PreallocatedMemoryChunk.43 = type { i8*, i8*, i64 }
%struct.__va_list_tag.44 = type { i32, i32, i8*, i8* }
%struct.ListManager.45 = type { [131072 x i8*], i64, i64, i32, i32, i32, %struct.LLVMRuntime.48* }
%struct.NodeManager.46 = type <{ %struct.LLVMRuntime.48*, i32, i32, i32, i32, %struct.ListManager.45*, %struct.ListManager.45*, %struct.ListManager.45*, i32, [4 x i8] }>
%struct.RandState.47 = type { i32, i32, i32, i32, i32 }

; Function Attrs: nofree nosync nounwind
define void @spring_adjoint_c7_0_kernel_0_serial(%struct.RuntimeContext.49* nocapture readonly %context) local_unnamed_addr #0 {
entry:
  %0 = bitcast %struct.RuntimeContext.49* %context to { { { i32 }, float* }, { { i32 }, float* }, float, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* } }**
  %1 = load { { { i32 }, float* }, { { i32 }, float* }, float, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* } }*, { { { i32 }, float* }, { { i32 }, float* }, float, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* } }** %0, align 8
  %2 = getelementptr { { { i32 }, float* }, { { i32 }, float* }, float, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* } }, { { { i32 }, float* }, { { i32 }, float* }, float, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* } }* %1, i64 0, i32 0, i32 0, i32 0
  %3 = load i32, i32* %2, align 4
  %4 = getelementptr { { { i32 }, float* }, { { i32 }, float* }, float, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* } }, { { { i32 }, float* }, { { i32 }, float* }, float, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* } }* %1, i64 0, i32 0, i32 1
  %5 = load float*, float** %4, align 8
  %6 = getelementptr { { { i32 }, float* }, { { i32 }, float* }, float, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* } }, { { { i32 }, float* }, { { i32 }, float* }, float, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* } }* %1, i64 0, i32 1, i32 1
  %7 = load float*, float** %6, align 8
  %8 = getelementptr { { { i32 }, float* }, { { i32 }, float* }, float, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* } }, { { { i32 }, float* }, { { i32 }, float* }, float, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* } }* %1, i64 0, i32 2
  %9 = load float, float* %8, align 4
  %10 = getelementptr { { { i32 }, float* }, { { i32 }, float* }, float, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* } }, { { { i32 }, float* }, { { i32 }, float* }, float, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* } }* %1, i64 0, i32 3, i32 1
  %11 = load float*, float** %10, align 8
  %12 = getelementptr { { { i32 }, float* }, { { i32 }, float* }, float, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* } }, { { { i32 }, float* }, { { i32 }, float* }, float, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* } }* %1, i64 0, i32 4, i32 1
  %13 = load float*, float** %12, align 8
  %14 = getelementptr { { { i32 }, float* }, { { i32 }, float* }, float, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* } }, { { { i32 }, float* }, { { i32 }, float* }, float, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* } }* %1, i64 0, i32 5, i32 1
  %15 = load float*, float** %14, align 8
  %16 = add i32 %3, 31
  %17 = sdiv i32 %16, 32
  %18 = icmp slt i32 %16, 0
  %19 = shl nsw i32 %17, 5
  %20 = icmp ne i32 %19, %16
  %21 = and i1 %18, %20
  %.neg.i = sext i1 %21 to i32
  %22 = add nsw i32 %17, %.neg.i
  %23 = tail call i32 @llvm.smax.i32(i32 %22, i32 1)
  %24 = add i32 %3, -1
  %25 = add i32 %24, %23
  %26 = sdiv i32 %25, %23
  %27 = mul i32 %23, %26
  %28 = icmp slt i32 %25, 0
  %29 = icmp ne i32 %27, %25
  %30 = and i1 %28, %29
  %.neg43.i = sext i1 %30 to i32
  %31 = add i32 %26, %.neg43.i
  %32 = icmp sgt i32 %31, 0
  br i1 %32, label %for_loop_body.i.preheader, label %spring_adjoint_body_1048583_0.exit

for_loop_body.i.preheader:                        ; preds = %entry
  %scevgep15 = getelementptr float, float* %7, i64 1
  %broadcast.splatinsert38 = insertelement <8 x float> poison, float %9, i64 0
  %broadcast.splat39 = shufflevector <8 x float> %broadcast.splatinsert38, <8 x float> poison, <8 x i32> zeroinitializer
  %scevgep51 = getelementptr float, float* %13, i64 56
  %scevgep99 = getelementptr float, float* %11, i64 56
  %scevgep147 = getelementptr float, float* %5, i64 56
  br label %for_loop_body.i

for_loop_body.i:                                  ; preds = %for_loop_body.i.preheader, %after_for3.i
  %lsr.iv173 = phi i32 [ 64, %for_loop_body.i.preheader ], [ %lsr.iv.next174, %after_for3.i ]
  %lsr.iv = phi i32 [ %23, %for_loop_body.i.preheader ], [ %lsr.iv.next, %after_for3.i ]
  %indvars.iv.i = phi i32 [ %indvars.iv.next.i, %after_for3.i ], [ 0, %for_loop_body.i.preheader ]
  %.051.i = phi i32 [ %184, %after_for3.i ], [ 0, %for_loop_body.i.preheader ]
  %33 = mul i32 %23, %.051.i
  %34 = add i32 %23, %33
  %35 = add i32 %33, 64
  %36 = tail call i32 @llvm.smin.i32(i32 %34, i32 %3)
  %37 = sub i32 %36, %33
  %38 = add i32 %37, 63
  %39 = sdiv i32 %38, 64
  %40 = icmp slt i32 %38, 0
  %41 = shl nsw i32 %39, 6
  %42 = icmp ne i32 %41, %38
  %43 = and i1 %40, %42
  %.neg44.i = sext i1 %43 to i32
  %44 = add nsw i32 %39, %.neg44.i
  %45 = icmp sgt i32 %44, 0
  br i1 %45, label %for_loop_body1.i.preheader, label %after_for3.i

for_loop_body1.i.preheader:                       ; preds = %for_loop_body.i
  %46 = zext i32 %44 to i64
  br label %for_loop_body1.i

for_loop_body1.i:                                 ; preds = %for_loop_body1.i.preheader, %after_for7.i
  %indvars.iv = phi i64 [ 0, %for_loop_body1.i.preheader ], [ %indvars.iv.next, %after_for7.i ]
  %lsr.iv175 = phi i32 [ %lsr.iv173, %for_loop_body1.i.preheader ], [ %lsr.iv.next176, %after_for7.i ]
  %indvars.iv53.i = phi i32 [ %indvars.iv.next54.i, %after_for7.i ], [ %indvars.iv.i, %for_loop_body1.i.preheader ]
  %.03949.i = phi double [ %201, %after_for7.i ], [ 0.000000e+00, %for_loop_body1.i.preheader ]
  %47 = sext i32 %indvars.iv53.i to i64
  %smin197 = call i32 @llvm.smin.i32(i32 %3, i32 %lsr.iv)
  %smin198 = call i32 @llvm.smin.i32(i32 %smin197, i32 %lsr.iv175)
  %48 = sext i32 %smin198 to i64
  %49 = add i64 %48, -8
  %50 = sub i64 %49, %47
  %51 = lshr i64 %50, 3
  %52 = trunc i64 %51 to i3
  %53 = add i3 %52, 1
  %54 = zext i3 %53 to i64
  %55 = shl nuw nsw i64 %54, 5
  %scevgep52 = getelementptr float, float* %scevgep51, i64 %47
  %scevgep100 = getelementptr float, float* %scevgep99, i64 %47
  %scevgep148 = getelementptr float, float* %scevgep147, i64 %47
  %56 = add nuw nsw i64 %51, 1
  %57 = lshr i64 %56, 3
  %58 = shl nuw nsw i64 %57, 3
  %59 = trunc i64 %indvars.iv to i32
  %60 = shl i32 %59, 6
  %61 = add i32 %35, %60
  %smin45 = call i32 @llvm.smin.i32(i32 %36, i32 %61)
  %62 = sext i32 %smin45 to i64
  %63 = add i32 %33, %60
  %64 = sext i32 %63 to i64
  %65 = sub nsw i64 %62, %64
  %66 = add nsw i64 %65, -8
  %67 = lshr i64 %66, 3
  %68 = add nuw nsw i64 %67, 1
  %scevgep = getelementptr float, float* %13, i64 %64
  %scevgep9 = getelementptr float, float* %13, i64 %62
  %scevgep11 = getelementptr float, float* %11, i64 %64
  %scevgep13 = getelementptr float, float* %11, i64 %62
  %scevgep17 = getelementptr float, float* %5, i64 %64
  %scevgep19 = getelementptr float, float* %5, i64 %62
  %69 = add i32 %63, 64
  %70 = tail call i32 @llvm.smin.i32(i32 %69, i32 %36)
  %71 = icmp slt i32 %63, %70
  br i1 %71, label %for_loop_body5.preheader.i, label %after_for7.i

for_loop_body5.preheader.i:                       ; preds = %for_loop_body1.i
  %72 = sext i32 %70 to i64
  %min.iters.check = icmp ult i64 %65, 16
  br i1 %min.iters.check, label %for_loop_body5.i.preheader, label %vector.memcheck

vector.memcheck:                                  ; preds = %for_loop_body5.preheader.i
  %bound0 = icmp ult float* %scevgep, %scevgep13
  %bound1 = icmp ult float* %scevgep11, %scevgep9
  %found.conflict = and i1 %bound0, %bound1
  %bound021 = icmp ult float* %scevgep, %scevgep15
  %bound122 = icmp ult float* %7, %scevgep9
  %found.conflict23 = and i1 %bound021, %bound122
  %conflict.rdx = or i1 %found.conflict, %found.conflict23
  %bound024 = icmp ult float* %scevgep, %scevgep19
  %bound125 = icmp ult float* %scevgep17, %scevgep9
  %found.conflict26 = and i1 %bound024, %bound125
  %conflict.rdx27 = or i1 %conflict.rdx, %found.conflict26
  %bound028 = icmp ult float* %scevgep11, %scevgep15
  %bound129 = icmp ult float* %7, %scevgep13
  %found.conflict30 = and i1 %bound028, %bound129
  %conflict.rdx31 = or i1 %conflict.rdx27, %found.conflict30
  %bound032 = icmp ult float* %scevgep11, %scevgep19
  %bound133 = icmp ult float* %scevgep17, %scevgep13
  %found.conflict34 = and i1 %bound032, %bound133
  %conflict.rdx35 = or i1 %conflict.rdx31, %found.conflict34
  br i1 %conflict.rdx35, label %for_loop_body5.i.preheader, label %vector.ph

vector.ph:                                        ; preds = %vector.memcheck
  %n.vec = and i64 %65, -8
  %ind.end = add nsw i64 %n.vec, %47
  %xtraiter = and i64 %68, 7
  %73 = icmp ult i64 %66, 56
  br i1 %73, label %middle.block.unr-lcssa, label %vector.ph.new

vector.ph.new:                                    ; preds = %vector.ph
  %74 = load float, float* %7, align 4, !alias.scope !6
  %.scalar = fmul reassoc ninf nsz float %74, %9
  %75 = insertelement <8 x float> poison, float %.scalar, i64 0
  %76 = shufflevector <8 x float> %75, <8 x float> poison, <8 x i32> zeroinitializer
  br label %vector.body

vector.body:                                      ; preds = %vector.body, %vector.ph.new
  %lsr.iv178 = phi i64 [ %lsr.iv.next179, %vector.body ], [ %58, %vector.ph.new ]
  %index = phi i64 [ 0, %vector.ph.new ], [ %index.next.7, %vector.body ]
  %vec.phi = phi <8 x float> [ zeroinitializer, %vector.ph.new ], [ %164, %vector.body ]
  %scevgep169 = getelementptr float, float* %scevgep148, i64 %index
  %scevgep169170 = bitcast float* %scevgep169 to <8 x float>*
  %scevgep171 = getelementptr <8 x float>, <8 x float>* %scevgep169170, i64 -7
  %wide.load = load <8 x float>, <8 x float>* %scevgep171, align 4, !alias.scope !9
  %scevgep141 = getelementptr float, float* %scevgep100, i64 %index
  %scevgep141142 = bitcast float* %scevgep141 to <8 x float>*
  %scevgep143 = getelementptr <8 x float>, <8 x float>* %scevgep141142, i64 -7
  %wide.load40 = load <8 x float>, <8 x float>* %scevgep143, align 4, !alias.scope !11, !noalias !13
  %77 = fmul reassoc ninf nsz <8 x float> %wide.load40, %broadcast.splat39
  %scevgep93 = getelementptr float, float* %scevgep52, i64 %index
  %scevgep9394 = bitcast float* %scevgep93 to <8 x float>*
  %scevgep95 = getelementptr <8 x float>, <8 x float>* %scevgep9394, i64 -7
  %wide.load41 = load <8 x float>, <8 x float>* %scevgep95, align 4, !alias.scope !14, !noalias !16
  %78 = fadd reassoc ninf nsz <8 x float> %wide.load41, %77
  store <8 x float> %78, <8 x float>* %scevgep95, align 4, !alias.scope !14, !noalias !16
  %79 = fneg reassoc ninf nsz <8 x float> %wide.load
  %80 = fmul reassoc ninf nsz <8 x float> %78, %79
  %81 = fmul reassoc ninf nsz <8 x float> %78, %wide.load
  %82 = fsub reassoc ninf nsz <8 x float> %80, %81
  %83 = fmul reassoc ninf nsz <8 x float> %76, %82
  %84 = fadd reassoc ninf nsz <8 x float> %83, %wide.load40
  store <8 x float> %84, <8 x float>* %scevgep143, align 4, !alias.scope !11, !noalias !13
  %85 = fmul reassoc ninf nsz <8 x float> %wide.load, %broadcast.splat39
  %86 = fmul reassoc ninf nsz <8 x float> %85, %80
  %87 = fadd reassoc ninf nsz <8 x float> %86, %vec.phi
  %scevgep166 = getelementptr <8 x float>, <8 x float>* %scevgep169170, i64 -6
  %wide.load.1 = load <8 x float>, <8 x float>* %scevgep166, align 4, !alias.scope !9
  %scevgep136 = getelementptr <8 x float>, <8 x float>* %scevgep141142, i64 -6
  %wide.load40.1 = load <8 x float>, <8 x float>* %scevgep136, align 4, !alias.scope !11, !noalias !13
  %88 = fmul reassoc ninf nsz <8 x float> %wide.load40.1, %broadcast.splat39
  %scevgep88 = getelementptr <8 x float>, <8 x float>* %scevgep9394, i64 -6
  %wide.load41.1 = load <8 x float>, <8 x float>* %scevgep88, align 4, !alias.scope !14, !noalias !16
  %89 = fadd reassoc ninf nsz <8 x float> %wide.load41.1, %88
  store <8 x float> %89, <8 x float>* %scevgep88, align 4, !alias.scope !14, !noalias !16
  %90 = fneg reassoc ninf nsz <8 x float> %wide.load.1
  %91 = fmul reassoc ninf nsz <8 x float> %89, %90
  %92 = fmul reassoc ninf nsz <8 x float> %89, %wide.load.1
  %93 = fsub reassoc ninf nsz <8 x float> %91, %92
  %94 = fmul reassoc ninf nsz <8 x float> %76, %93
  %95 = fadd reassoc ninf nsz <8 x float> %94, %wide.load40.1
  store <8 x float> %95, <8 x float>* %scevgep136, align 4, !alias.scope !11, !noalias !13
  %96 = fmul reassoc ninf nsz <8 x float> %wide.load.1, %broadcast.splat39
  %97 = fmul reassoc ninf nsz <8 x float> %96, %91
  %98 = fadd reassoc ninf nsz <8 x float> %97, %87
  %scevgep163 = getelementptr <8 x float>, <8 x float>* %scevgep169170, i64 -5
  %wide.load.2 = load <8 x float>, <8 x float>* %scevgep163, align 4, !alias.scope !9
  %scevgep130 = getelementptr <8 x float>, <8 x float>* %scevgep141142, i64 -5
  %wide.load40.2 = load <8 x float>, <8 x float>* %scevgep130, align 4, !alias.scope !11, !noalias !13
  %99 = fmul reassoc ninf nsz <8 x float> %wide.load40.2, %broadcast.splat39
  %scevgep82 = getelementptr <8 x float>, <8 x float>* %scevgep9394, i64 -5
  %wide.load41.2 = load <8 x float>, <8 x float>* %scevgep82, align 4, !alias.scope !14, !noalias !16
  %100 = fadd reassoc ninf nsz <8 x float> %wide.load41.2, %99
  store <8 x float> %100, <8 x float>* %scevgep82, align 4, !alias.scope !14, !noalias !16
  %101 = fneg reassoc ninf nsz <8 x float> %wide.load.2
  %102 = fmul reassoc ninf nsz <8 x float> %100, %101
  %103 = fmul reassoc ninf nsz <8 x float> %100, %wide.load.2
  %104 = fsub reassoc ninf nsz <8 x float> %102, %103
  %105 = fmul reassoc ninf nsz <8 x float> %76, %104
  %106 = fadd reassoc ninf nsz <8 x float> %105, %wide.load40.2
  store <8 x float> %106, <8 x float>* %scevgep130, align 4, !alias.scope !11, !noalias !13
  %107 = fmul reassoc ninf nsz <8 x float> %wide.load.2, %broadcast.splat39
  %108 = fmul reassoc ninf nsz <8 x float> %107, %102
  %109 = fadd reassoc ninf nsz <8 x float> %108, %98
  %scevgep160 = getelementptr <8 x float>, <8 x float>* %scevgep169170, i64 -4
  %wide.load.3 = load <8 x float>, <8 x float>* %scevgep160, align 4, !alias.scope !9
  %scevgep124 = getelementptr <8 x float>, <8 x float>* %scevgep141142, i64 -4
  %wide.load40.3 = load <8 x float>, <8 x float>* %scevgep124, align 4, !alias.scope !11, !noalias !13
  %110 = fmul reassoc ninf nsz <8 x float> %wide.load40.3, %broadcast.splat39
  %scevgep76 = getelementptr <8 x float>, <8 x float>* %scevgep9394, i64 -4
  %wide.load41.3 = load <8 x float>, <8 x float>* %scevgep76, align 4, !alias.scope !14, !noalias !16
  %111 = fadd reassoc ninf nsz <8 x float> %wide.load41.3, %110
  store <8 x float> %111, <8 x float>* %scevgep76, align 4, !alias.scope !14, !noalias !16
  %112 = fneg reassoc ninf nsz <8 x float> %wide.load.3
  %113 = fmul reassoc ninf nsz <8 x float> %111, %112
  %114 = fmul reassoc ninf nsz <8 x float> %111, %wide.load.3
  %115 = fsub reassoc ninf nsz <8 x float> %113, %114
  %116 = fmul reassoc ninf nsz <8 x float> %76, %115
  %117 = fadd reassoc ninf nsz <8 x float> %116, %wide.load40.3
  store <8 x float> %117, <8 x float>* %scevgep124, align 4, !alias.scope !11, !noalias !13
  %118 = fmul reassoc ninf nsz <8 x float> %wide.load.3, %broadcast.splat39
  %119 = fmul reassoc ninf nsz <8 x float> %118, %113
  %120 = fadd reassoc ninf nsz <8 x float> %119, %109
  %scevgep157 = getelementptr <8 x float>, <8 x float>* %scevgep169170, i64 -3
  %wide.load.4 = load <8 x float>, <8 x float>* %scevgep157, align 4, !alias.scope !9
  %scevgep118 = getelementptr <8 x float>, <8 x float>* %scevgep141142, i64 -3
  %wide.load40.4 = load <8 x float>, <8 x float>* %scevgep118, align 4, !alias.scope !11, !noalias !13
  %121 = fmul reassoc ninf nsz <8 x float> %wide.load40.4, %broadcast.splat39
  %scevgep70 = getelementptr <8 x float>, <8 x float>* %scevgep9394, i64 -3
  %wide.load41.4 = load <8 x float>, <8 x float>* %scevgep70, align 4, !alias.scope !14, !noalias !16
  %122 = fadd reassoc ninf nsz <8 x float> %wide.load41.4, %121
  store <8 x float> %122, <8 x float>* %scevgep70, align 4, !alias.scope !14, !noalias !16
  %123 = fneg reassoc ninf nsz <8 x float> %wide.load.4
  %124 = fmul reassoc ninf nsz <8 x float> %122, %123
  %125 = fmul reassoc ninf nsz <8 x float> %122, %wide.load.4
  %126 = fsub reassoc ninf nsz <8 x float> %124, %125
  %127 = fmul reassoc ninf nsz <8 x float> %76, %126
  %128 = fadd reassoc ninf nsz <8 x float> %127, %wide.load40.4
  store <8 x float> %128, <8 x float>* %scevgep118, align 4, !alias.scope !11, !noalias !13
  %129 = fmul reassoc ninf nsz <8 x float> %wide.load.4, %broadcast.splat39
  %130 = fmul reassoc ninf nsz <8 x float> %129, %124
  %131 = fadd reassoc ninf nsz <8 x float> %130, %120
  %scevgep154 = getelementptr <8 x float>, <8 x float>* %scevgep169170, i64 -2
  %wide.load.5 = load <8 x float>, <8 x float>* %scevgep154, align 4, !alias.scope !9
  %scevgep112 = getelementptr <8 x float>, <8 x float>* %scevgep141142, i64 -2
  %wide.load40.5 = load <8 x float>, <8 x float>* %scevgep112, align 4, !alias.scope !11, !noalias !13
  %132 = fmul reassoc ninf nsz <8 x float> %wide.load40.5, %broadcast.splat39
  %scevgep64 = getelementptr <8 x float>, <8 x float>* %scevgep9394, i64 -2
  %wide.load41.5 = load <8 x float>, <8 x float>* %scevgep64, align 4, !alias.scope !14, !noalias !16
  %133 = fadd reassoc ninf nsz <8 x float> %wide.load41.5, %132
  store <8 x float> %133, <8 x float>* %scevgep64, align 4, !alias.scope !14, !noalias !16
  %134 = fneg reassoc ninf nsz <8 x float> %wide.load.5
  %135 = fmul reassoc ninf nsz <8 x float> %133, %134
  %136 = fmul reassoc ninf nsz <8 x float> %133, %wide.load.5
  %137 = fsub reassoc ninf nsz <8 x float> %135, %136
  %138 = fmul reassoc ninf nsz <8 x float> %76, %137
  %139 = fadd reassoc ninf nsz <8 x float> %138, %wide.load40.5
  store <8 x float> %139, <8 x float>* %scevgep112, align 4, !alias.scope !11, !noalias !13
  %140 = fmul reassoc ninf nsz <8 x float> %wide.load.5, %broadcast.splat39
  %141 = fmul reassoc ninf nsz <8 x float> %140, %135
  %142 = fadd reassoc ninf nsz <8 x float> %141, %131
  %scevgep151 = getelementptr <8 x float>, <8 x float>* %scevgep169170, i64 -1
  %wide.load.6 = load <8 x float>, <8 x float>* %scevgep151, align 4, !alias.scope !9
  %scevgep106 = getelementptr <8 x float>, <8 x float>* %scevgep141142, i64 -1
  %wide.load40.6 = load <8 x float>, <8 x float>* %scevgep106, align 4, !alias.scope !11, !noalias !13
  %143 = fmul reassoc ninf nsz <8 x float> %wide.load40.6, %broadcast.splat39
  %scevgep58 = getelementptr <8 x float>, <8 x float>* %scevgep9394, i64 -1
  %wide.load41.6 = load <8 x float>, <8 x float>* %scevgep58, align 4, !alias.scope !14, !noalias !16
  %144 = fadd reassoc ninf nsz <8 x float> %wide.load41.6, %143
  store <8 x float> %144, <8 x float>* %scevgep58, align 4, !alias.scope !14, !noalias !16
  %145 = fneg reassoc ninf nsz <8 x float> %wide.load.6
  %146 = fmul reassoc ninf nsz <8 x float> %144, %145
  %147 = fmul reassoc ninf nsz <8 x float> %144, %wide.load.6
  %148 = fsub reassoc ninf nsz <8 x float> %146, %147
  %149 = fmul reassoc ninf nsz <8 x float> %76, %148
  %150 = fadd reassoc ninf nsz <8 x float> %149, %wide.load40.6
  store <8 x float> %150, <8 x float>* %scevgep106, align 4, !alias.scope !11, !noalias !13
  %151 = fmul reassoc ninf nsz <8 x float> %wide.load.6, %broadcast.splat39
  %152 = fmul reassoc ninf nsz <8 x float> %151, %146
  %153 = fadd reassoc ninf nsz <8 x float> %152, %142
  %wide.load.7 = load <8 x float>, <8 x float>* %scevgep169170, align 4, !alias.scope !9
  %wide.load40.7 = load <8 x float>, <8 x float>* %scevgep141142, align 4, !alias.scope !11, !noalias !13
  %154 = fmul reassoc ninf nsz <8 x float> %wide.load40.7, %broadcast.splat39
  %wide.load41.7 = load <8 x float>, <8 x float>* %scevgep9394, align 4, !alias.scope !14, !noalias !16
  %155 = fadd reassoc ninf nsz <8 x float> %wide.load41.7, %154
  store <8 x float> %155, <8 x float>* %scevgep9394, align 4, !alias.scope !14, !noalias !16
  %156 = fneg reassoc ninf nsz <8 x float> %wide.load.7
  %157 = fmul reassoc ninf nsz <8 x float> %155, %156
  %158 = fmul reassoc ninf nsz <8 x float> %155, %wide.load.7
  %159 = fsub reassoc ninf nsz <8 x float> %157, %158
  %160 = fmul reassoc ninf nsz <8 x float> %76, %159
  %161 = fadd reassoc ninf nsz <8 x float> %160, %wide.load40.7
  store <8 x float> %161, <8 x float>* %scevgep141142, align 4, !alias.scope !11, !noalias !13
  %162 = fmul reassoc ninf nsz <8 x float> %wide.load.7, %broadcast.splat39
  %163 = fmul reassoc ninf nsz <8 x float> %162, %157
  %164 = fadd reassoc ninf nsz <8 x float> %163, %153
  %index.next.7 = add i64 %index, 64
  %lsr.iv.next179 = add i64 %lsr.iv178, -8
  %niter.ncmp.7 = icmp eq i64 %lsr.iv.next179, 0
  br i1 %niter.ncmp.7, label %middle.block.unr-lcssa.loopexit, label %vector.body, !llvm.loop !17

middle.block.unr-lcssa.loopexit:                  ; preds = %vector.body
  br label %middle.block.unr-lcssa

middle.block.unr-lcssa:                           ; preds = %middle.block.unr-lcssa.loopexit, %vector.ph
  %.lcssa.ph = phi <8 x float> [ undef, %vector.ph ], [ %164, %middle.block.unr-lcssa.loopexit ]
  %index.unr = phi i64 [ 0, %vector.ph ], [ %index.next.7, %middle.block.unr-lcssa.loopexit ]
  %vec.phi.unr = phi <8 x float> [ zeroinitializer, %vector.ph ], [ %164, %middle.block.unr-lcssa.loopexit ]
  %lcmp.mod.not = icmp eq i64 %xtraiter, 0
  br i1 %lcmp.mod.not, label %middle.block, label %vector.body.epil.preheader

vector.body.epil.preheader:                       ; preds = %middle.block.unr-lcssa
  %165 = load float, float* %7, align 4, !alias.scope !6
  %.scalar.epil = fmul reassoc ninf nsz float %165, %9
  %166 = insertelement <8 x float> poison, float %.scalar.epil, i64 0
  %167 = shufflevector <8 x float> %166, <8 x float> poison, <8 x i32> zeroinitializer
  %168 = add i64 %index.unr, %47
  %scevgep180 = getelementptr float, float* %13, i64 %168
  %scevgep180183 = bitcast float* %scevgep180 to i8*
  %scevgep187 = getelementptr float, float* %11, i64 %168
  %scevgep187188 = bitcast float* %scevgep187 to i8*
  %scevgep193 = getelementptr float, float* %5, i64 %168
  %scevgep193194 = bitcast float* %scevgep193 to i8*
  br label %vector.body.epil

vector.body.epil:                                 ; preds = %vector.body.epil, %vector.body.epil.preheader
  %lsr.iv181 = phi i64 [ %lsr.iv.next182, %vector.body.epil ], [ 0, %vector.body.epil.preheader ]
  %vec.phi.epil = phi <8 x float> [ %vec.phi.unr, %vector.body.epil.preheader ], [ %179, %vector.body.epil ]
  %uglygep195 = getelementptr i8, i8* %scevgep193194, i64 %lsr.iv181
  %uglygep195196 = bitcast i8* %uglygep195 to <8 x float>*
  %wide.load.epil = load <8 x float>, <8 x float>* %uglygep195196, align 4, !alias.scope !9
  %uglygep191 = getelementptr i8, i8* %scevgep187188, i64 %lsr.iv181
  %uglygep191192 = bitcast i8* %uglygep191 to <8 x float>*
  %wide.load40.epil = load <8 x float>, <8 x float>* %uglygep191192, align 4, !alias.scope !11, !noalias !13
  %169 = fmul reassoc ninf nsz <8 x float> %wide.load40.epil, %broadcast.splat39
  %uglygep185 = getelementptr i8, i8* %scevgep180183, i64 %lsr.iv181
  %uglygep185186 = bitcast i8* %uglygep185 to <8 x float>*
  %wide.load41.epil = load <8 x float>, <8 x float>* %uglygep185186, align 4, !alias.scope !14, !noalias !16
  %170 = fadd reassoc ninf nsz <8 x float> %wide.load41.epil, %169
  store <8 x float> %170, <8 x float>* %uglygep185186, align 4, !alias.scope !14, !noalias !16
  %171 = fneg reassoc ninf nsz <8 x float> %wide.load.epil
  %172 = fmul reassoc ninf nsz <8 x float> %170, %171
  %173 = fmul reassoc ninf nsz <8 x float> %170, %wide.load.epil
  %174 = fsub reassoc ninf nsz <8 x float> %172, %173
  %175 = fmul reassoc ninf nsz <8 x float> %167, %174
  %176 = fadd reassoc ninf nsz <8 x float> %175, %wide.load40.epil
  store <8 x float> %176, <8 x float>* %uglygep191192, align 4, !alias.scope !11, !noalias !13
  %177 = fmul reassoc ninf nsz <8 x float> %wide.load.epil, %broadcast.splat39
  %178 = fmul reassoc ninf nsz <8 x float> %177, %172
  %179 = fadd reassoc ninf nsz <8 x float> %178, %vec.phi.epil
  %lsr.iv.next182 = add nuw nsw i64 %lsr.iv181, 32
  %epil.iter.cmp.not = icmp eq i64 %55, %lsr.iv.next182
  br i1 %epil.iter.cmp.not, label %middle.block.loopexit, label %vector.body.epil, !llvm.loop !19

middle.block.loopexit:                            ; preds = %vector.body.epil
  br label %middle.block

middle.block:                                     ; preds = %middle.block.loopexit, %middle.block.unr-lcssa
  %.lcssa = phi <8 x float> [ %.lcssa.ph, %middle.block.unr-lcssa ], [ %179, %middle.block.loopexit ]
  %180 = call reassoc ninf nsz float @llvm.vector.reduce.fadd.v8f32(float -0.000000e+00, <8 x float> %.lcssa)
  %cmp.n = icmp eq i64 %65, %n.vec
  br i1 %cmp.n, label %after_for7.i, label %for_loop_body5.i.preheader

for_loop_body5.i.preheader:                       ; preds = %vector.memcheck, %for_loop_body5.preheader.i, %middle.block
  %indvars.iv55.i.ph = phi i64 [ %47, %vector.memcheck ], [ %47, %for_loop_body5.preheader.i ], [ %ind.end, %middle.block ]
  %.04246.i.ph = phi float [ 0.000000e+00, %vector.memcheck ], [ 0.000000e+00, %for_loop_body5.preheader.i ], [ %180, %middle.block ]
  br label %for_loop_body5.i

after_for3.i.loopexit:                            ; preds = %after_for7.i
  br label %after_for3.i

after_for3.i:                                     ; preds = %after_for3.i.loopexit, %for_loop_body.i
  %.039.lcssa.i = phi double [ 0.000000e+00, %for_loop_body.i ], [ %201, %after_for3.i.loopexit ]
  %181 = load float, float* %15, align 4
  %182 = fptrunc double %.039.lcssa.i to float
  %183 = fadd reassoc ninf nsz float %181, %182
  store float %183, float* %15, align 4
  %184 = add nuw nsw i32 %.051.i, 1
  %indvars.iv.next.i = add i32 %indvars.iv.i, %23
  %lsr.iv.next = add i32 %lsr.iv, %23
  %lsr.iv.next174 = add i32 %lsr.iv173, %23
  %exitcond58.not.i = icmp eq i32 %184, %31
  br i1 %exitcond58.not.i, label %spring_adjoint_body_1048583_0.exit.loopexit, label %for_loop_body.i

for_loop_body5.i:                                 ; preds = %for_loop_body5.i.preheader, %for_loop_body5.i
  %indvars.iv55.i = phi i64 [ %indvars.iv.next56.i, %for_loop_body5.i ], [ %indvars.iv55.i.ph, %for_loop_body5.i.preheader ]
  %.04246.i = phi float [ %198, %for_loop_body5.i ], [ %.04246.i.ph, %for_loop_body5.i.preheader ]
  %185 = load float, float* %7, align 4
  %186 = fmul reassoc ninf nsz float %185, %9
  %scevgep201 = getelementptr float, float* %5, i64 %indvars.iv55.i
  %187 = load float, float* %scevgep201, align 4
  %scevgep200 = getelementptr float, float* %11, i64 %indvars.iv55.i
  %188 = load float, float* %scevgep200, align 4
  %189 = fmul reassoc ninf nsz float %188, %9
  %scevgep199 = getelementptr float, float* %13, i64 %indvars.iv55.i
  %190 = load float, float* %scevgep199, align 4
  %191 = fadd reassoc ninf nsz float %190, %189
  store float %191, float* %scevgep199, align 4
  %192 = fneg reassoc ninf nsz float %187
  %193 = fmul reassoc ninf nsz float %191, %192
  %.neg45.i = fmul reassoc ninf nsz float %191, %187
  %194 = fsub reassoc ninf nsz float %193, %.neg45.i
  %reass.mul.i = fmul reassoc ninf nsz float %186, %194
  %195 = fadd reassoc ninf nsz float %reass.mul.i, %188
  store float %195, float* %scevgep200, align 4
  %196 = fmul reassoc ninf nsz float %187, %9
  %197 = fmul reassoc ninf nsz float %196, %193
  %198 = fadd reassoc ninf nsz float %197, %.04246.i
  %indvars.iv.next56.i = add nsw i64 %indvars.iv55.i, 1
  %199 = icmp slt i64 %indvars.iv.next56.i, %72
  br i1 %199, label %for_loop_body5.i, label %after_for7.i.loopexit, !llvm.loop !21

after_for7.i.loopexit:                            ; preds = %for_loop_body5.i
  br label %after_for7.i

after_for7.i:                                     ; preds = %after_for7.i.loopexit, %middle.block, %for_loop_body1.i
  %.042.lcssa.i = phi float [ 0.000000e+00, %for_loop_body1.i ], [ %180, %middle.block ], [ %198, %after_for7.i.loopexit ]
  %200 = fpext float %.042.lcssa.i to double
  %201 = fadd reassoc ninf nsz double %.03949.i, %200
  %indvars.iv.next = add nuw nsw i64 %indvars.iv, 1
  %indvars.iv.next54.i = add i32 %indvars.iv53.i, 64
  %lsr.iv.next176 = add i32 %lsr.iv175, 64
  %exitcond.not.i = icmp eq i64 %indvars.iv.next, %46
  br i1 %exitcond.not.i, label %after_for3.i.loopexit, label %for_loop_body1.i

spring_adjoint_body_1048583_0.exit.loopexit:      ; preds = %after_for3.i
  br label %spring_adjoint_body_1048583_0.exit

spring_adjoint_body_1048583_0.exit:               ; preds = %spring_adjoint_body_1048583_0.exit.loopexit, %entry
  ret void
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind readnone speculatable willreturn
declare i32 @llvm.smin.i32(i32, i32) #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind readnone speculatable willreturn
declare i32 @llvm.smax.i32(i32, i32) #1

; Function Attrs: nocallback nofree nosync nounwind readnone willreturn
declare float @llvm.vector.reduce.fadd.v8f32(float, <8 x float>) #2

attributes #0 = { nofree nosync nounwind }
attributes #1 = { mustprogress nocallback nofree nosync nounwind readnone speculatable willreturn }
attributes #2 = { nocallback nofree nosync nounwind readnone willreturn }

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
!13 = !{!7, !10}
!14 = !{!15}
!15 = distinct !{!15, !8}
!16 = !{!12, !7, !10}
!17 = distinct !{!17, !18}
!18 = !{!"llvm.loop.isvectorized", i32 1}
!19 = distinct !{!19, !20}
!20 = !{!"llvm.loop.unroll.disable"}
!21 = distinct !{!21, !18}
