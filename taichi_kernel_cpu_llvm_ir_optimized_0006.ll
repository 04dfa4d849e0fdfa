; ModuleID = 'kernel'
source_filename = "kernel"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

%struct.RuntimeContext.42 = type { i8*, %struct.LLVMRuntime.41*, i32, i64* }
%struct.LLVMRuntime.41 = type { %struct.PreallocatedMemoryChunk.36, %struct.PreallocatedMemoryChunk.36, i8* (i8*, i64, i64)*, void (i8*)*, void (i8*, ...)*, i32 (i8*, i64, i8*, %struct.__va_list_tag.37*)*, i8*, [512 x i8*], [512 x i64], i8*, void (i8*, i32, i32, i8*, void (i8*, i32, i32)*)*, [1024 x %struct.ListManager.38*], [1024 x %struct.NodeManager.39*], [1024 x i8*], i8*, %struct.RandState.40*, i8*, void (i8*, i8*)*, void (i8*)*, [2048 x i8], [32 x i64], i32, i64, i8*, i32, i32, i64 }
%struct.PreallocatedMemoryChunk.36 = type { i8*, i8*, i64 }
%struct.__va_list_tag.37 = type { i32, i32, i8*, i8* }
%struct.ListManager.38 = type { [131072 x i8*], i64, i64, i32, i32, i32, %struct.LLVMRuntime.41* }
%struct.NodeManager.39 = type <{ %struct.LLVMRuntime.41*, i32, i32, i32, i32, %struct.ListManager.38*, %struct.ListManager.38*, %struct.ListManager.38*, i32, [4 x i8] }>
%struct.RandState.40 = type { i32, i32, i32, i32, i32 }

; Function Attrs: nofree norecurse nosync nounwind
define void @spring_c6_0_kernel_0_serial(%struct.RuntimeContext.42* nocapture readonly %context) local_unnamed_addr #0 {
entry:
  %0 = bitcast %struct.RuntimeContext.42* %context to { { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, float }**
  %1 = load { { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, float }*, { { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, float }** %0, align 8
  %2 = getelementptr { { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, float }, { { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, float }* %1, i64 0, i32 0, i32 0, i32 0
  %3 = load i32, i32* %2, align 4
  %4 = getelementptr { { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, float }, { { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, float }* %1, i64 0, i32 0, i32 1
  %5 = load float*, float** %4, align 8
  %6 = getelementptr { { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, float }, { { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, float }* %1, i64 0, i32 1, i32 1
  %7 = load float*, float** %6, align 8
  %8 = getelementptr { { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, float }, { { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, float }* %1, i64 0, i32 2, i32 1
  %9 = load float*, float** %8, align 8
  %10 = getelementptr { { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, float }, { { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, float }* %1, i64 0, i32 3
  %11 = load float, float* %10, align 4
  %12 = icmp sgt i32 %3, 0
  br i1 %12, label %for_loop_body.preheader.i, label %spring_body_1048582_0.exit

for_loop_body.preheader.i:                        ; preds = %entry
  %wide.trip.count.i = zext i32 %3 to i64
  %min.iters.check = icmp ult i32 %3, 16
  br i1 %min.iters.check, label %for_loop_body.i.preheader, label %vector.memcheck

vector.memcheck:                                  ; preds = %for_loop_body.preheader.i
  %scevgep = getelementptr float, float* %7, i64 %wide.trip.count.i
  %scevgep3 = getelementptr float, float* %5, i64 %wide.trip.count.i
  %scevgep5 = getelementptr float, float* %9, i64 1
  %bound0 = icmp ult float* %7, %scevgep3
  %bound1 = icmp ult float* %5, %scevgep
  %found.conflict = and i1 %bound0, %bound1
  %bound07 = icmp ult float* %7, %scevgep5
  %bound18 = icmp ult float* %9, %scevgep
  %found.conflict9 = and i1 %bound07, %bound18
  %conflict.rdx = or i1 %found.conflict, %found.conflict9
  %bound010 = icmp ult float* %5, %scevgep5
  %bound111 = icmp ult float* %9, %scevgep3
  %found.conflict12 = and i1 %bound010, %bound111
  %conflict.rdx13 = or i1 %conflict.rdx, %found.conflict12
  br i1 %conflict.rdx13, label %for_loop_body.i.preheader, label %vector.ph

vector.ph:                                        ; preds = %vector.memcheck
  %n.vec = and i64 %wide.trip.count.i, 4294967288
  %broadcast.splatinsert = insertelement <8 x float> poison, float %11, i64 0
  %broadcast.splat = shufflevector <8 x float> %broadcast.splatinsert, <8 x float> poison, <8 x i32> zeroinitializer
  %13 = add nsw i64 %n.vec, -8
  %14 = lshr exact i64 %13, 3
  %15 = add nuw nsw i64 %14, 1
  %xtraiter17 = and i64 %15, 7
  %16 = icmp ult i64 %13, 56
  br i1 %16, label %middle.block.unr-lcssa, label %vector.ph.new

vector.ph.new:                                    ; preds = %vector.ph
  %unroll_iter = and i64 %15, 4611686018427387896
  %17 = load float, float* %9, align 4, !alias.scope !6
  %broadcast.splatinsert14 = insertelement <8 x float> poison, float %17, i64 0
  %18 = fmul reassoc ninf nsz <8 x float> %broadcast.splatinsert14, %broadcast.splat
  %19 = shufflevector <8 x float> %18, <8 x float> poison, <8 x i32> zeroinitializer
  %scevgep67 = getelementptr float, float* %5, i64 56
  %scevgep114 = getelementptr float, float* %7, i64 56
  br label %vector.body

vector.body:                                      ; preds = %vector.body, %vector.ph.new
  %lsr.iv161 = phi i64 [ %lsr.iv.next162, %vector.body ], [ %unroll_iter, %vector.ph.new ]
  %index = phi i64 [ 0, %vector.ph.new ], [ %index.next.7, %vector.body ]
  %scevgep108 = getelementptr float, float* %scevgep67, i64 %index
  %scevgep108109 = bitcast float* %scevgep108 to <8 x float>*
  %scevgep110 = getelementptr <8 x float>, <8 x float>* %scevgep108109, i64 -7
  %wide.load = load <8 x float>, <8 x float>* %scevgep110, align 4, !alias.scope !9, !noalias !6
  %20 = fmul reassoc ninf nsz <8 x float> %wide.load, %wide.load
  %21 = fmul reassoc ninf nsz <8 x float> %19, %20
  %scevgep155 = getelementptr float, float* %scevgep114, i64 %index
  %scevgep155156 = bitcast float* %scevgep155 to <8 x float>*
  %scevgep157 = getelementptr <8 x float>, <8 x float>* %scevgep155156, i64 -7
  %wide.load16 = load <8 x float>, <8 x float>* %scevgep157, align 4, !alias.scope !11, !noalias !13
  %22 = fsub reassoc ninf nsz <8 x float> %wide.load16, %21
  store <8 x float> %22, <8 x float>* %scevgep157, align 4, !alias.scope !11, !noalias !13
  %23 = fmul reassoc ninf nsz <8 x float> %22, %broadcast.splat
  %24 = fadd reassoc ninf nsz <8 x float> %23, %wide.load
  store <8 x float> %24, <8 x float>* %scevgep110, align 4, !alias.scope !9, !noalias !6
  %scevgep103 = getelementptr <8 x float>, <8 x float>* %scevgep108109, i64 -6
  %wide.load.1 = load <8 x float>, <8 x float>* %scevgep103, align 4, !alias.scope !9, !noalias !6
  %25 = fmul reassoc ninf nsz <8 x float> %wide.load.1, %wide.load.1
  %26 = fmul reassoc ninf nsz <8 x float> %19, %25
  %scevgep150 = getelementptr <8 x float>, <8 x float>* %scevgep155156, i64 -6
  %wide.load16.1 = load <8 x float>, <8 x float>* %scevgep150, align 4, !alias.scope !11, !noalias !13
  %27 = fsub reassoc ninf nsz <8 x float> %wide.load16.1, %26
  store <8 x float> %27, <8 x float>* %scevgep150, align 4, !alias.scope !11, !noalias !13
  %28 = fmul reassoc ninf nsz <8 x float> %27, %broadcast.splat
  %29 = fadd reassoc ninf nsz <8 x float> %28, %wide.load.1
  store <8 x float> %29, <8 x float>* %scevgep103, align 4, !alias.scope !9, !noalias !6
  %scevgep97 = getelementptr <8 x float>, <8 x float>* %scevgep108109, i64 -5
  %wide.load.2 = load <8 x float>, <8 x float>* %scevgep97, align 4, !alias.scope !9, !noalias !6
  %30 = fmul reassoc ninf nsz <8 x float> %wide.load.2, %wide.load.2
  %31 = fmul reassoc ninf nsz <8 x float> %19, %30
  %scevgep144 = getelementptr <8 x float>, <8 x float>* %scevgep155156, i64 -5
  %wide.load16.2 = load <8 x float>, <8 x float>* %scevgep144, align 4, !alias.scope !11, !noalias !13
  %32 = fsub reassoc ninf nsz <8 x float> %wide.load16.2, %31
  store <8 x float> %32, <8 x float>* %scevgep144, align 4, !alias.scope !11, !noalias !13
  %33 = fmul reassoc ninf nsz <8 x float> %32, %broadcast.splat
  %34 = fadd reassoc ninf nsz <8 x float> %33, %wide.load.2
  store <8 x float> %34, <8 x float>* %scevgep97, align 4, !alias.scope !9, !noalias !6
  %scevgep91 = getelementptr <8 x float>, <8 x float>* %scevgep108109, i64 -4
  %wide.load.3 = load <8 x float>, <8 x float>* %scevgep91, align 4, !alias.scope !9, !noalias !6
  %35 = fmul reassoc ninf nsz <8 x float> %wide.load.3, %wide.load.3
  %36 = fmul reassoc ninf nsz <8 x float> %19, %35
  %scevgep138 = getelementptr <8 x float>, <8 x float>* %scevgep155156, i64 -4
  %wide.load16.3 = load <8 x float>, <8 x float>* %scevgep138, align 4, !alias.scope !11, !noalias !13
  %37 = fsub reassoc ninf nsz <8 x float> %wide.load16.3, %36
  store <8 x float> %37, <8 x float>* %scevgep138, align 4, !alias.scope !11, !noalias !13
  %38 = fmul reassoc ninf nsz <8 x float> %37, %broadcast.splat
  %39 = fadd reassoc ninf nsz <8 x float> %38, %wide.load.3
  store <8 x float> %39, <8 x float>* %scevgep91, align 4, !alias.scope !9, !noalias !6
  %scevgep85 = getelementptr <8 x float>, <8 x float>* %scevgep108109, i64 -3
  %wide.load.4 = load <8 x float>, <8 x float>* %scevgep85, align 4, !alias.scope !9, !noalias !6
  %40 = fmul reassoc ninf nsz <8 x float> %wide.load.4, %wide.load.4
  %41 = fmul reassoc ninf nsz <8 x float> %19, %40
  %scevgep132 = getelementptr <8 x float>, <8 x float>* %scevgep155156, i64 -3
  %wide.load16.4 = load <8 x float>, <8 x float>* %scevgep132, align 4, !alias.scope !11, !noalias !13
  %42 = fsub reassoc ninf nsz <8 x float> %wide.load16.4, %41
  store <8 x float> %42, <8 x float>* %scevgep132, align 4, !alias.scope !11, !noalias !13
  %43 = fmul reassoc ninf nsz <8 x float> %42, %broadcast.splat
  %44 = fadd reassoc ninf nsz <8 x float> %43, %wide.load.4
  store <8 x float> %44, <8 x float>* %scevgep85, align 4, !alias.scope !9, !noalias !6
  %scevgep79 = getelementptr <8 x float>, <8 x float>* %scevgep108109, i64 -2
  %wide.load.5 = load <8 x float>, <8 x float>* %scevgep79, align 4, !alias.scope !9, !noalias !6
  %45 = fmul reassoc ninf nsz <8 x float> %wide.load.5, %wide.load.5
  %46 = fmul reassoc ninf nsz <8 x float> %19, %45
  %scevgep126 = getelementptr <8 x float>, <8 x float>* %scevgep155156, i64 -2
  %wide.load16.5 = load <8 x float>, <8 x float>* %scevgep126, align 4, !alias.scope !11, !noalias !13
  %47 = fsub reassoc ninf nsz <8 x float> %wide.load16.5, %46
  store <8 x float> %47, <8 x float>* %scevgep126, align 4, !alias.scope !11, !noalias !13
  %48 = fmul reassoc ninf nsz <8 x float> %47, %broadcast.splat
  %49 = fadd reassoc ninf nsz <8 x float> %48, %wide.load.5
  store <8 x float> %49, <8 x float>* %scevgep79, align 4, !alias.scope !9, !noalias !6
  %scevgep73 = getelementptr <8 x float>, <8 x float>* %scevgep108109, i64 -1
  %wide.load.6 = load <8 x float>, <8 x float>* %scevgep73, align 4, !alias.scope !9, !noalias !6
  %50 = fmul reassoc ninf nsz <8 x float> %wide.load.6, %wide.load.6
  %51 = fmul reassoc ninf nsz <8 x float> %19, %50
  %scevgep120 = getelementptr <8 x float>, <8 x float>* %scevgep155156, i64 -1
  %wide.load16.6 = load <8 x float>, <8 x float>* %scevgep120, align 4, !alias.scope !11, !noalias !13
  %52 = fsub reassoc ninf nsz <8 x float> %wide.load16.6, %51
  store <8 x float> %52, <8 x float>* %scevgep120, align 4, !alias.scope !11, !noalias !13
  %53 = fmul reassoc ninf nsz <8 x float> %52, %broadcast.splat
  %54 = fadd reassoc ninf nsz <8 x float> %53, %wide.load.6
  store <8 x float> %54, <8 x float>* %scevgep73, align 4, !alias.scope !9, !noalias !6
  %wide.load.7 = load <8 x float>, <8 x float>* %scevgep108109, align 4, !alias.scope !9, !noalias !6
  %55 = fmul reassoc ninf nsz <8 x float> %wide.load.7, %wide.load.7
  %56 = fmul reassoc ninf nsz <8 x float> %19, %55
  %wide.load16.7 = load <8 x float>, <8 x float>* %scevgep155156, align 4, !alias.scope !11, !noalias !13
  %57 = fsub reassoc ninf nsz <8 x float> %wide.load16.7, %56
  store <8 x float> %57, <8 x float>* %scevgep155156, align 4, !alias.scope !11, !noalias !13
  %58 = fmul reassoc ninf nsz <8 x float> %57, %broadcast.splat
  %59 = fadd reassoc ninf nsz <8 x float> %58, %wide.load.7
  store <8 x float> %59, <8 x float>* %scevgep108109, align 4, !alias.scope !9, !noalias !6
  %index.next.7 = add i64 %index, 64
  %lsr.iv.next162 = add i64 %lsr.iv161, -8
  %niter.ncmp.7 = icmp eq i64 %lsr.iv.next162, 0
  br i1 %niter.ncmp.7, label %middle.block.unr-lcssa.loopexit, label %vector.body, !llvm.loop !14

middle.block.unr-lcssa.loopexit:                  ; preds = %vector.body
  br label %middle.block.unr-lcssa

middle.block.unr-lcssa:                           ; preds = %middle.block.unr-lcssa.loopexit, %vector.ph
  %index.unr = phi i64 [ 0, %vector.ph ], [ %index.next.7, %middle.block.unr-lcssa.loopexit ]
  %lcmp.mod18.not = icmp eq i64 %xtraiter17, 0
  br i1 %lcmp.mod18.not, label %middle.block, label %vector.body.epil.preheader

vector.body.epil.preheader:                       ; preds = %middle.block.unr-lcssa
  %60 = load float, float* %9, align 4, !alias.scope !6
  %broadcast.splatinsert14.epil = insertelement <8 x float> poison, float %60, i64 0
  %61 = fmul reassoc ninf nsz <8 x float> %broadcast.splatinsert14.epil, %broadcast.splat
  %62 = shufflevector <8 x float> %61, <8 x float> poison, <8 x i32> zeroinitializer
  %scevgep54 = getelementptr float, float* %7, i64 %index.unr
  %scevgep5457 = bitcast float* %scevgep54 to i8*
  %scevgep61 = getelementptr float, float* %5, i64 %index.unr
  %scevgep6162 = bitcast float* %scevgep61 to i8*
  %63 = shl nuw nsw i64 %xtraiter17, 5
  br label %vector.body.epil

vector.body.epil:                                 ; preds = %vector.body.epil, %vector.body.epil.preheader
  %lsr.iv55 = phi i64 [ %lsr.iv.next56, %vector.body.epil ], [ 0, %vector.body.epil.preheader ]
  %uglygep65 = getelementptr i8, i8* %scevgep6162, i64 %lsr.iv55
  %uglygep6566 = bitcast i8* %uglygep65 to <8 x float>*
  %wide.load.epil = load <8 x float>, <8 x float>* %uglygep6566, align 4, !alias.scope !9, !noalias !6
  %64 = fmul reassoc ninf nsz <8 x float> %wide.load.epil, %wide.load.epil
  %65 = fmul reassoc ninf nsz <8 x float> %62, %64
  %uglygep59 = getelementptr i8, i8* %scevgep5457, i64 %lsr.iv55
  %uglygep5960 = bitcast i8* %uglygep59 to <8 x float>*
  %wide.load16.epil = load <8 x float>, <8 x float>* %uglygep5960, align 4, !alias.scope !11, !noalias !13
  %66 = fsub reassoc ninf nsz <8 x float> %wide.load16.epil, %65
  store <8 x float> %66, <8 x float>* %uglygep5960, align 4, !alias.scope !11, !noalias !13
  %67 = fmul reassoc ninf nsz <8 x float> %66, %broadcast.splat
  %68 = fadd reassoc ninf nsz <8 x float> %67, %wide.load.epil
  store <8 x float> %68, <8 x float>* %uglygep6566, align 4, !alias.scope !9, !noalias !6
  %lsr.iv.next56 = add nuw nsw i64 %lsr.iv55, 32
  %epil.iter.cmp.not = icmp eq i64 %63, %lsr.iv.next56
  br i1 %epil.iter.cmp.not, label %middle.block.loopexit, label %vector.body.epil, !llvm.loop !16

middle.block.loopexit:                            ; preds = %vector.body.epil
  br label %middle.block

middle.block:                                     ; preds = %middle.block.loopexit, %middle.block.unr-lcssa
  %cmp.n = icmp eq i64 %n.vec, %wide.trip.count.i
  br i1 %cmp.n, label %spring_body_1048582_0.exit, label %for_loop_body.i.preheader

for_loop_body.i.preheader:                        ; preds = %vector.memcheck, %for_loop_body.preheader.i, %middle.block
  %indvars.iv.i.ph = phi i64 [ 0, %vector.memcheck ], [ 0, %for_loop_body.preheader.i ], [ %n.vec, %middle.block ]
  %69 = xor i64 %indvars.iv.i.ph, -1
  %70 = add nsw i64 %69, %wide.trip.count.i
  %xtraiter = and i64 %wide.trip.count.i, 7
  %lcmp.mod.not = icmp eq i64 %xtraiter, 0
  br i1 %lcmp.mod.not, label %for_loop_body.i.prol.loopexit, label %for_loop_body.i.prol.preheader

for_loop_body.i.prol.preheader:                   ; preds = %for_loop_body.i.preheader
  br label %for_loop_body.i.prol

for_loop_body.i.prol:                             ; preds = %for_loop_body.i.prol.preheader, %for_loop_body.i.prol
  %lsr.iv = phi i64 [ %xtraiter, %for_loop_body.i.prol.preheader ], [ %lsr.iv.next, %for_loop_body.i.prol ]
  %indvars.iv.i.prol = phi i64 [ %indvars.iv.next.i.prol, %for_loop_body.i.prol ], [ %indvars.iv.i.ph, %for_loop_body.i.prol.preheader ]
  %scevgep53 = getelementptr float, float* %5, i64 %indvars.iv.i.prol
  %71 = load float, float* %scevgep53, align 4
  %72 = load float, float* %9, align 4
  %73 = fmul reassoc ninf nsz float %71, %71
  %74 = fmul reassoc ninf nsz float %73, %11
  %75 = fmul reassoc ninf nsz float %74, %72
  %scevgep52 = getelementptr float, float* %7, i64 %indvars.iv.i.prol
  %76 = load float, float* %scevgep52, align 4
  %77 = fsub reassoc ninf nsz float %76, %75
  store float %77, float* %scevgep52, align 4
  %78 = fmul reassoc ninf nsz float %77, %11
  %79 = fadd reassoc ninf nsz float %78, %71
  store float %79, float* %scevgep53, align 4
  %indvars.iv.next.i.prol = add nuw nsw i64 %indvars.iv.i.prol, 1
  %lsr.iv.next = add nsw i64 %lsr.iv, -1
  %prol.iter.cmp.not = icmp eq i64 %lsr.iv.next, 0
  br i1 %prol.iter.cmp.not, label %for_loop_body.i.prol.loopexit.loopexit, label %for_loop_body.i.prol, !llvm.loop !18

for_loop_body.i.prol.loopexit.loopexit:           ; preds = %for_loop_body.i.prol
  br label %for_loop_body.i.prol.loopexit

for_loop_body.i.prol.loopexit:                    ; preds = %for_loop_body.i.prol.loopexit.loopexit, %for_loop_body.i.preheader
  %indvars.iv.i.unr = phi i64 [ %indvars.iv.i.ph, %for_loop_body.i.preheader ], [ %indvars.iv.next.i.prol, %for_loop_body.i.prol.loopexit.loopexit ]
  %80 = icmp ult i64 %70, 7
  br i1 %80, label %spring_body_1048582_0.exit, label %for_loop_body.i.preheader19

for_loop_body.i.preheader19:                      ; preds = %for_loop_body.i.prol.loopexit
  %scevgep20 = getelementptr float, float* %7, i64 7
  %scevgep36 = getelementptr float, float* %5, i64 7
  br label %for_loop_body.i

for_loop_body.i:                                  ; preds = %for_loop_body.i.preheader19, %for_loop_body.i
  %indvars.iv.i = phi i64 [ %indvars.iv.next.i.7, %for_loop_body.i ], [ %indvars.iv.i.unr, %for_loop_body.i.preheader19 ]
  %scevgep50 = getelementptr float, float* %scevgep36, i64 %indvars.iv.i
  %scevgep51 = getelementptr float, float* %scevgep50, i64 -7
  %81 = load float, float* %scevgep51, align 4
  %82 = load float, float* %9, align 4
  %83 = fmul reassoc ninf nsz float %81, %81
  %84 = fmul reassoc ninf nsz float %83, %11
  %85 = fmul reassoc ninf nsz float %84, %82
  %scevgep34 = getelementptr float, float* %scevgep20, i64 %indvars.iv.i
  %scevgep35 = getelementptr float, float* %scevgep34, i64 -7
  %86 = load float, float* %scevgep35, align 4
  %87 = fsub reassoc ninf nsz float %86, %85
  store float %87, float* %scevgep35, align 4
  %88 = fmul reassoc ninf nsz float %87, %11
  %89 = fadd reassoc ninf nsz float %88, %81
  store float %89, float* %scevgep51, align 4
  %scevgep49 = getelementptr float, float* %scevgep50, i64 -6
  %90 = load float, float* %scevgep49, align 4
  %91 = load float, float* %9, align 4
  %92 = fmul reassoc ninf nsz float %90, %90
  %93 = fmul reassoc ninf nsz float %92, %11
  %94 = fmul reassoc ninf nsz float %93, %91
  %scevgep33 = getelementptr float, float* %scevgep34, i64 -6
  %95 = load float, float* %scevgep33, align 4
  %96 = fsub reassoc ninf nsz float %95, %94
  store float %96, float* %scevgep33, align 4
  %97 = fmul reassoc ninf nsz float %96, %11
  %98 = fadd reassoc ninf nsz float %97, %90
  store float %98, float* %scevgep49, align 4
  %scevgep47 = getelementptr float, float* %scevgep50, i64 -5
  %99 = load float, float* %scevgep47, align 4
  %100 = load float, float* %9, align 4
  %101 = fmul reassoc ninf nsz float %99, %99
  %102 = fmul reassoc ninf nsz float %101, %11
  %103 = fmul reassoc ninf nsz float %102, %100
  %scevgep31 = getelementptr float, float* %scevgep34, i64 -5
  %104 = load float, float* %scevgep31, align 4
  %105 = fsub reassoc ninf nsz float %104, %103
  store float %105, float* %scevgep31, align 4
  %106 = fmul reassoc ninf nsz float %105, %11
  %107 = fadd reassoc ninf nsz float %106, %99
  store float %107, float* %scevgep47, align 4
  %scevgep45 = getelementptr float, float* %scevgep50, i64 -4
  %108 = load float, float* %scevgep45, align 4
  %109 = load float, float* %9, align 4
  %110 = fmul reassoc ninf nsz float %108, %108
  %111 = fmul reassoc ninf nsz float %110, %11
  %112 = fmul reassoc ninf nsz float %111, %109
  %scevgep29 = getelementptr float, float* %scevgep34, i64 -4
  %113 = load float, float* %scevgep29, align 4
  %114 = fsub reassoc ninf nsz float %113, %112
  store float %114, float* %scevgep29, align 4
  %115 = fmul reassoc ninf nsz float %114, %11
  %116 = fadd reassoc ninf nsz float %115, %108
  store float %116, float* %scevgep45, align 4
  %scevgep43 = getelementptr float, float* %scevgep50, i64 -3
  %117 = load float, float* %scevgep43, align 4
  %118 = load float, float* %9, align 4
  %119 = fmul reassoc ninf nsz float %117, %117
  %120 = fmul reassoc ninf nsz float %119, %11
  %121 = fmul reassoc ninf nsz float %120, %118
  %scevgep27 = getelementptr float, float* %scevgep34, i64 -3
  %122 = load float, float* %scevgep27, align 4
  %123 = fsub reassoc ninf nsz float %122, %121
  store float %123, float* %scevgep27, align 4
  %124 = fmul reassoc ninf nsz float %123, %11
  %125 = fadd reassoc ninf nsz float %124, %117
  store float %125, float* %scevgep43, align 4
  %scevgep41 = getelementptr float, float* %scevgep50, i64 -2
  %126 = load float, float* %scevgep41, align 4
  %127 = load float, float* %9, align 4
  %128 = fmul reassoc ninf nsz float %126, %126
  %129 = fmul reassoc ninf nsz float %128, %11
  %130 = fmul reassoc ninf nsz float %129, %127
  %scevgep25 = getelementptr float, float* %scevgep34, i64 -2
  %131 = load float, float* %scevgep25, align 4
  %132 = fsub reassoc ninf nsz float %131, %130
  store float %132, float* %scevgep25, align 4
  %133 = fmul reassoc ninf nsz float %132, %11
  %134 = fadd reassoc ninf nsz float %133, %126
  store float %134, float* %scevgep41, align 4
  %scevgep39 = getelementptr float, float* %scevgep50, i64 -1
  %135 = load float, float* %scevgep39, align 4
  %136 = load float, float* %9, align 4
  %137 = fmul reassoc ninf nsz float %135, %135
  %138 = fmul reassoc ninf nsz float %137, %11
  %139 = fmul reassoc ninf nsz float %138, %136
  %scevgep23 = getelementptr float, float* %scevgep34, i64 -1
  %140 = load float, float* %scevgep23, align 4
  %141 = fsub reassoc ninf nsz float %140, %139
  store float %141, float* %scevgep23, align 4
  %142 = fmul reassoc ninf nsz float %141, %11
  %143 = fadd reassoc ninf nsz float %142, %135
  store float %143, float* %scevgep39, align 4
  %144 = load float, float* %scevgep50, align 4
  %145 = load float, float* %9, align 4
  %146 = fmul reassoc ninf nsz float %144, %144
  %147 = fmul reassoc ninf nsz float %146, %11
  %148 = fmul reassoc ninf nsz float %147, %145
  %149 = load float, float* %scevgep34, align 4
  %150 = fsub reassoc ninf nsz float %149, %148
  store float %150, float* %scevgep34, align 4
  %151 = fmul reassoc ninf nsz float %150, %11
  %152 = fadd reassoc ninf nsz float %151, %144
  store float %152, float* %scevgep50, align 4
  %indvars.iv.next.i.7 = add nuw nsw i64 %indvars.iv.i, 8
  %exitcond.not.i.7 = icmp eq i64 %wide.trip.count.i, %indvars.iv.next.i.7
  br i1 %exitcond.not.i.7, label %spring_body_1048582_0.exit.loopexit, label %for_loop_body.i, !llvm.loop !19

spring_body_1048582_0.exit.loopexit:              ; preds = %for_loop_body.i
  br label %spring_body_1048582_0.exit

spring_body_1048582_0.exit:                       ; preds = %spring_body_1048582_0.exit.loopexit, %for_loop_body.i.prol.loopexit, %middle.block, %entry
  ret void
}

attributes #0 = { nofree norecurse nosync nounwind }

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
!16 = distinct !{!16, !17}
!17 = !{!"llvm.loop.unroll.disable"}
!18 = distinct !{!18, !17}
!19 = distinct !{!19, !15}
