; ModuleID = 'kernel'
source_filename = "kernel"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

%struct.RuntimeContext.119 = type { i8*, %struct.LLVMRuntime.118*, i32, i64* }
%struct.LLVMRuntime.118 = type { %struct.PreallocatedMemoryChunk.113, %struct.PreallocatedMemoryChunk.113, i8* (i8*, i64, i64)*, void (i8*)*, void (i8*, ...)*, i32 (i8*, i64, i8*, %struct.__va_list_tag.114*)*, i8*, [512 x i8*], [512 x i64], i8*, void (i8*, i32, i32, i8*, void (i8*, i32, i32)*)*, [1024 x %struct.ListManager.115*], [1024 x %struct.NodeManager.116*], [1024 x i8*], i8*, %struct.RandState.117*, i8*, void (i8*, i8*)*, void (i8*)*, [2048 x i8], [32 x i64], i32, i64, i8*, i32, i32, i64 }
%struct.PreallocatedMemoryChunk.113 = type { i8*, i8*, i64 }
%struct.__va_list_tag.114 = type { i32, i32, i8*, i8* }
%struct.ListManager.115 = type { [131072 x i8*], i64, i64, i32, i32, i32, %struct.LLVMRuntime.118* }
%struct.NodeManager.116 = type <{ %struct.LLVMRuntime.118*, i32, i32, i32, i32, %struct.ListManager.115*, %struct.ListManager.115*, %struct.ListManager.115*, i32, [4 x i8] }>
%struct.RandState.117 = type { i32, i32, i32, i32, i32 }

; Function Attrs: nofree norecurse nosync nounwind
define void @sums_adjoint_c17_0_kernel_0_serial(%struct.RuntimeContext.119* nocapture readonly %context) local_unnamed_addr #0 {
entry:
  %0 = bitcast %struct.RuntimeContext.119* %context to { { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* } }**
  %1 = load { { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* } }*, { { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* } }** %0, align 8
  %2 = getelementptr { { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* } }, { { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* } }* %1, i64 0, i32 0, i32 0, i32 0
  %3 = load i32, i32* %2, align 4
  %4 = getelementptr { { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* } }, { { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* } }* %1, i64 0, i32 0, i32 1
  %5 = load float*, float** %4, align 8
  %6 = getelementptr { { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* } }, { { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* } }* %1, i64 0, i32 1, i32 1
  %7 = load float*, float** %6, align 8
  %8 = getelementptr { { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* } }, { { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* } }* %1, i64 0, i32 2, i32 1
  %9 = load float*, float** %8, align 8
  %10 = bitcast float* %9 to i8*
  %11 = getelementptr { { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* } }, { { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* } }* %1, i64 0, i32 3, i32 1
  %12 = load float*, float** %11, align 8
  %13 = getelementptr { { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* } }, { { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* } }* %1, i64 0, i32 4, i32 1
  %14 = load float*, float** %13, align 8
  %15 = getelementptr { { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* } }, { { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* } }* %1, i64 0, i32 5, i32 1
  %16 = load float*, float** %15, align 8
  %17 = icmp sgt i32 %3, 0
  br i1 %17, label %for_loop_body.lr.ph.i, label %sums_adjoint_body_1048593_0.exit

for_loop_body.lr.ph.i:                            ; preds = %entry
  %18 = sitofp i32 %3 to float
  %19 = fadd reassoc ninf nsz float %18, 2.000000e+00
  %wide.trip.count53.i = zext i32 %3 to i64
  %min.iters.check = icmp ult i32 %3, 32
  br i1 %min.iters.check, label %for_loop_body.i.preheader, label %vector.ph

vector.ph:                                        ; preds = %for_loop_body.lr.ph.i
  %n.vec = and i64 %wide.trip.count53.i, 4294967264
  %broadcast.splatinsert = insertelement <8 x float> poison, float %19, i64 0
  %broadcast.splat = shufflevector <8 x float> %broadcast.splatinsert, <8 x float> poison, <8 x i32> zeroinitializer
  %20 = add nsw i64 %n.vec, -32
  %21 = lshr exact i64 %20, 5
  %22 = add nuw nsw i64 %21, 1
  %xtraiter193 = and i64 %22, 7
  %23 = icmp ult i64 %20, 224
  br i1 %23, label %middle.block.unr-lcssa, label %vector.ph.new

vector.ph.new:                                    ; preds = %vector.ph
  %unroll_iter196 = and i64 %22, 1152921504606846968
  %scevgep480 = getelementptr float, float* %12, i64 248
  br label %vector.body

vector.body:                                      ; preds = %vector.body, %vector.ph.new
  %lsr.iv671 = phi i64 [ %lsr.iv.next672, %vector.body ], [ %unroll_iter196, %vector.ph.new ]
  %index = phi i64 [ 0, %vector.ph.new ], [ %index.next.7, %vector.body ]
  %scevgep647 = getelementptr float, float* %scevgep480, i64 %index
  %scevgep647648 = bitcast float* %scevgep647 to <8 x float>*
  %scevgep649 = getelementptr <8 x float>, <8 x float>* %scevgep647648, i64 -31
  %wide.load = load <8 x float>, <8 x float>* %scevgep649, align 4
  %scevgep670 = getelementptr <8 x float>, <8 x float>* %scevgep647648, i64 -30
  %wide.load11 = load <8 x float>, <8 x float>* %scevgep670, align 4
  %scevgep664 = getelementptr <8 x float>, <8 x float>* %scevgep647648, i64 -29
  %wide.load12 = load <8 x float>, <8 x float>* %scevgep664, align 4
  %scevgep658 = getelementptr <8 x float>, <8 x float>* %scevgep647648, i64 -28
  %wide.load13 = load <8 x float>, <8 x float>* %scevgep658, align 4
  %24 = fdiv reassoc ninf nsz <8 x float> %wide.load, %broadcast.splat
  %25 = fdiv reassoc ninf nsz <8 x float> %wide.load11, %broadcast.splat
  %26 = fdiv reassoc ninf nsz <8 x float> %wide.load12, %broadcast.splat
  %27 = fdiv reassoc ninf nsz <8 x float> %wide.load13, %broadcast.splat
  store <8 x float> %24, <8 x float>* %scevgep649, align 4
  store <8 x float> %25, <8 x float>* %scevgep670, align 4
  store <8 x float> %26, <8 x float>* %scevgep664, align 4
  store <8 x float> %27, <8 x float>* %scevgep658, align 4
  %scevgep624 = getelementptr <8 x float>, <8 x float>* %scevgep647648, i64 -27
  %wide.load.1 = load <8 x float>, <8 x float>* %scevgep624, align 4
  %scevgep621 = getelementptr <8 x float>, <8 x float>* %scevgep647648, i64 -26
  %wide.load11.1 = load <8 x float>, <8 x float>* %scevgep621, align 4
  %scevgep615 = getelementptr <8 x float>, <8 x float>* %scevgep647648, i64 -25
  %wide.load12.1 = load <8 x float>, <8 x float>* %scevgep615, align 4
  %scevgep609 = getelementptr <8 x float>, <8 x float>* %scevgep647648, i64 -24
  %wide.load13.1 = load <8 x float>, <8 x float>* %scevgep609, align 4
  %28 = fdiv reassoc ninf nsz <8 x float> %wide.load.1, %broadcast.splat
  %29 = fdiv reassoc ninf nsz <8 x float> %wide.load11.1, %broadcast.splat
  %30 = fdiv reassoc ninf nsz <8 x float> %wide.load12.1, %broadcast.splat
  %31 = fdiv reassoc ninf nsz <8 x float> %wide.load13.1, %broadcast.splat
  store <8 x float> %28, <8 x float>* %scevgep624, align 4
  store <8 x float> %29, <8 x float>* %scevgep621, align 4
  store <8 x float> %30, <8 x float>* %scevgep615, align 4
  store <8 x float> %31, <8 x float>* %scevgep609, align 4
  %scevgep600 = getelementptr <8 x float>, <8 x float>* %scevgep647648, i64 -23
  %wide.load.2 = load <8 x float>, <8 x float>* %scevgep600, align 4
  %scevgep597 = getelementptr <8 x float>, <8 x float>* %scevgep647648, i64 -22
  %wide.load11.2 = load <8 x float>, <8 x float>* %scevgep597, align 4
  %scevgep591 = getelementptr <8 x float>, <8 x float>* %scevgep647648, i64 -21
  %wide.load12.2 = load <8 x float>, <8 x float>* %scevgep591, align 4
  %scevgep585 = getelementptr <8 x float>, <8 x float>* %scevgep647648, i64 -20
  %wide.load13.2 = load <8 x float>, <8 x float>* %scevgep585, align 4
  %32 = fdiv reassoc ninf nsz <8 x float> %wide.load.2, %broadcast.splat
  %33 = fdiv reassoc ninf nsz <8 x float> %wide.load11.2, %broadcast.splat
  %34 = fdiv reassoc ninf nsz <8 x float> %wide.load12.2, %broadcast.splat
  %35 = fdiv reassoc ninf nsz <8 x float> %wide.load13.2, %broadcast.splat
  store <8 x float> %32, <8 x float>* %scevgep600, align 4
  store <8 x float> %33, <8 x float>* %scevgep597, align 4
  store <8 x float> %34, <8 x float>* %scevgep591, align 4
  store <8 x float> %35, <8 x float>* %scevgep585, align 4
  %scevgep576 = getelementptr <8 x float>, <8 x float>* %scevgep647648, i64 -19
  %wide.load.3 = load <8 x float>, <8 x float>* %scevgep576, align 4
  %scevgep573 = getelementptr <8 x float>, <8 x float>* %scevgep647648, i64 -18
  %wide.load11.3 = load <8 x float>, <8 x float>* %scevgep573, align 4
  %scevgep567 = getelementptr <8 x float>, <8 x float>* %scevgep647648, i64 -17
  %wide.load12.3 = load <8 x float>, <8 x float>* %scevgep567, align 4
  %scevgep561 = getelementptr <8 x float>, <8 x float>* %scevgep647648, i64 -16
  %wide.load13.3 = load <8 x float>, <8 x float>* %scevgep561, align 4
  %36 = fdiv reassoc ninf nsz <8 x float> %wide.load.3, %broadcast.splat
  %37 = fdiv reassoc ninf nsz <8 x float> %wide.load11.3, %broadcast.splat
  %38 = fdiv reassoc ninf nsz <8 x float> %wide.load12.3, %broadcast.splat
  %39 = fdiv reassoc ninf nsz <8 x float> %wide.load13.3, %broadcast.splat
  store <8 x float> %36, <8 x float>* %scevgep576, align 4
  store <8 x float> %37, <8 x float>* %scevgep573, align 4
  store <8 x float> %38, <8 x float>* %scevgep567, align 4
  store <8 x float> %39, <8 x float>* %scevgep561, align 4
  %scevgep552 = getelementptr <8 x float>, <8 x float>* %scevgep647648, i64 -15
  %wide.load.4 = load <8 x float>, <8 x float>* %scevgep552, align 4
  %scevgep549 = getelementptr <8 x float>, <8 x float>* %scevgep647648, i64 -14
  %wide.load11.4 = load <8 x float>, <8 x float>* %scevgep549, align 4
  %scevgep543 = getelementptr <8 x float>, <8 x float>* %scevgep647648, i64 -13
  %wide.load12.4 = load <8 x float>, <8 x float>* %scevgep543, align 4
  %scevgep537 = getelementptr <8 x float>, <8 x float>* %scevgep647648, i64 -12
  %wide.load13.4 = load <8 x float>, <8 x float>* %scevgep537, align 4
  %40 = fdiv reassoc ninf nsz <8 x float> %wide.load.4, %broadcast.splat
  %41 = fdiv reassoc ninf nsz <8 x float> %wide.load11.4, %broadcast.splat
  %42 = fdiv reassoc ninf nsz <8 x float> %wide.load12.4, %broadcast.splat
  %43 = fdiv reassoc ninf nsz <8 x float> %wide.load13.4, %broadcast.splat
  store <8 x float> %40, <8 x float>* %scevgep552, align 4
  store <8 x float> %41, <8 x float>* %scevgep549, align 4
  store <8 x float> %42, <8 x float>* %scevgep543, align 4
  store <8 x float> %43, <8 x float>* %scevgep537, align 4
  %scevgep528 = getelementptr <8 x float>, <8 x float>* %scevgep647648, i64 -11
  %wide.load.5 = load <8 x float>, <8 x float>* %scevgep528, align 4
  %scevgep525 = getelementptr <8 x float>, <8 x float>* %scevgep647648, i64 -10
  %wide.load11.5 = load <8 x float>, <8 x float>* %scevgep525, align 4
  %scevgep519 = getelementptr <8 x float>, <8 x float>* %scevgep647648, i64 -9
  %wide.load12.5 = load <8 x float>, <8 x float>* %scevgep519, align 4
  %scevgep513 = getelementptr <8 x float>, <8 x float>* %scevgep647648, i64 -8
  %wide.load13.5 = load <8 x float>, <8 x float>* %scevgep513, align 4
  %44 = fdiv reassoc ninf nsz <8 x float> %wide.load.5, %broadcast.splat
  %45 = fdiv reassoc ninf nsz <8 x float> %wide.load11.5, %broadcast.splat
  %46 = fdiv reassoc ninf nsz <8 x float> %wide.load12.5, %broadcast.splat
  %47 = fdiv reassoc ninf nsz <8 x float> %wide.load13.5, %broadcast.splat
  store <8 x float> %44, <8 x float>* %scevgep528, align 4
  store <8 x float> %45, <8 x float>* %scevgep525, align 4
  store <8 x float> %46, <8 x float>* %scevgep519, align 4
  store <8 x float> %47, <8 x float>* %scevgep513, align 4
  %scevgep504 = getelementptr <8 x float>, <8 x float>* %scevgep647648, i64 -7
  %wide.load.6 = load <8 x float>, <8 x float>* %scevgep504, align 4
  %scevgep501 = getelementptr <8 x float>, <8 x float>* %scevgep647648, i64 -6
  %wide.load11.6 = load <8 x float>, <8 x float>* %scevgep501, align 4
  %scevgep495 = getelementptr <8 x float>, <8 x float>* %scevgep647648, i64 -5
  %wide.load12.6 = load <8 x float>, <8 x float>* %scevgep495, align 4
  %scevgep489 = getelementptr <8 x float>, <8 x float>* %scevgep647648, i64 -4
  %wide.load13.6 = load <8 x float>, <8 x float>* %scevgep489, align 4
  %48 = fdiv reassoc ninf nsz <8 x float> %wide.load.6, %broadcast.splat
  %49 = fdiv reassoc ninf nsz <8 x float> %wide.load11.6, %broadcast.splat
  %50 = fdiv reassoc ninf nsz <8 x float> %wide.load12.6, %broadcast.splat
  %51 = fdiv reassoc ninf nsz <8 x float> %wide.load13.6, %broadcast.splat
  store <8 x float> %48, <8 x float>* %scevgep504, align 4
  store <8 x float> %49, <8 x float>* %scevgep501, align 4
  store <8 x float> %50, <8 x float>* %scevgep495, align 4
  store <8 x float> %51, <8 x float>* %scevgep489, align 4
  %scevgep646 = getelementptr <8 x float>, <8 x float>* %scevgep647648, i64 -3
  %wide.load.7 = load <8 x float>, <8 x float>* %scevgep646, align 4
  %scevgep643 = getelementptr <8 x float>, <8 x float>* %scevgep647648, i64 -2
  %wide.load11.7 = load <8 x float>, <8 x float>* %scevgep643, align 4
  %scevgep637 = getelementptr <8 x float>, <8 x float>* %scevgep647648, i64 -1
  %wide.load12.7 = load <8 x float>, <8 x float>* %scevgep637, align 4
  %wide.load13.7 = load <8 x float>, <8 x float>* %scevgep647648, align 4
  %52 = fdiv reassoc ninf nsz <8 x float> %wide.load.7, %broadcast.splat
  %53 = fdiv reassoc ninf nsz <8 x float> %wide.load11.7, %broadcast.splat
  %54 = fdiv reassoc ninf nsz <8 x float> %wide.load12.7, %broadcast.splat
  %55 = fdiv reassoc ninf nsz <8 x float> %wide.load13.7, %broadcast.splat
  store <8 x float> %52, <8 x float>* %scevgep646, align 4
  store <8 x float> %53, <8 x float>* %scevgep643, align 4
  store <8 x float> %54, <8 x float>* %scevgep637, align 4
  store <8 x float> %55, <8 x float>* %scevgep647648, align 4
  %index.next.7 = add i64 %index, 256
  %lsr.iv.next672 = add i64 %lsr.iv671, -8
  %niter197.ncmp.7 = icmp eq i64 %lsr.iv.next672, 0
  br i1 %niter197.ncmp.7, label %middle.block.unr-lcssa.loopexit, label %vector.body, !llvm.loop !6

middle.block.unr-lcssa.loopexit:                  ; preds = %vector.body
  br label %middle.block.unr-lcssa

middle.block.unr-lcssa:                           ; preds = %middle.block.unr-lcssa.loopexit, %vector.ph
  %index.unr = phi i64 [ 0, %vector.ph ], [ %index.next.7, %middle.block.unr-lcssa.loopexit ]
  %lcmp.mod195.not = icmp eq i64 %xtraiter193, 0
  br i1 %lcmp.mod195.not, label %middle.block, label %vector.body.epil.preheader

vector.body.epil.preheader:                       ; preds = %middle.block.unr-lcssa
  %56 = getelementptr float, float* %12, i64 %index.unr
  %scevgep456673 = getelementptr float, float* %56, i64 24
  %scevgep456459 = bitcast float* %scevgep456673 to i8*
  %57 = shl nuw nsw i64 %xtraiter193, 7
  br label %vector.body.epil

vector.body.epil:                                 ; preds = %vector.body.epil.preheader, %vector.body.epil
  %lsr.iv457 = phi i64 [ 0, %vector.body.epil.preheader ], [ %lsr.iv.next458, %vector.body.epil ]
  %uglygep477 = getelementptr i8, i8* %scevgep456459, i64 %lsr.iv457
  %uglygep477478 = bitcast i8* %uglygep477 to <8 x float>*
  %scevgep479 = getelementptr <8 x float>, <8 x float>* %uglygep477478, i64 -3
  %wide.load.epil = load <8 x float>, <8 x float>* %scevgep479, align 4
  %scevgep476 = getelementptr <8 x float>, <8 x float>* %uglygep477478, i64 -2
  %wide.load11.epil = load <8 x float>, <8 x float>* %scevgep476, align 4
  %scevgep472 = getelementptr <8 x float>, <8 x float>* %uglygep477478, i64 -1
  %wide.load12.epil = load <8 x float>, <8 x float>* %scevgep472, align 4
  %wide.load13.epil = load <8 x float>, <8 x float>* %uglygep477478, align 4
  %58 = fdiv reassoc ninf nsz <8 x float> %wide.load.epil, %broadcast.splat
  %59 = fdiv reassoc ninf nsz <8 x float> %wide.load11.epil, %broadcast.splat
  %60 = fdiv reassoc ninf nsz <8 x float> %wide.load12.epil, %broadcast.splat
  %61 = fdiv reassoc ninf nsz <8 x float> %wide.load13.epil, %broadcast.splat
  store <8 x float> %58, <8 x float>* %scevgep479, align 4
  store <8 x float> %59, <8 x float>* %scevgep476, align 4
  store <8 x float> %60, <8 x float>* %scevgep472, align 4
  store <8 x float> %61, <8 x float>* %uglygep477478, align 4
  %lsr.iv.next458 = add nuw nsw i64 %lsr.iv457, 128
  %epil.iter194.cmp.not = icmp eq i64 %57, %lsr.iv.next458
  br i1 %epil.iter194.cmp.not, label %middle.block.loopexit, label %vector.body.epil, !llvm.loop !8

middle.block.loopexit:                            ; preds = %vector.body.epil
  br label %middle.block

middle.block:                                     ; preds = %middle.block.loopexit, %middle.block.unr-lcssa
  %cmp.n = icmp eq i64 %n.vec, %wide.trip.count53.i
  br i1 %cmp.n, label %for_loop_body1.i.preheader, label %for_loop_body.i.preheader

for_loop_body.i.preheader:                        ; preds = %for_loop_body.lr.ph.i, %middle.block
  %indvars.iv50.i.ph = phi i64 [ 0, %for_loop_body.lr.ph.i ], [ %n.vec, %middle.block ]
  br label %for_loop_body.i

for_loop_body.i:                                  ; preds = %for_loop_body.i.preheader, %for_loop_body.i
  %indvars.iv50.i = phi i64 [ %indvars.iv.next51.i, %for_loop_body.i ], [ %indvars.iv50.i.ph, %for_loop_body.i.preheader ]
  %scevgep455 = getelementptr float, float* %12, i64 %indvars.iv50.i
  %62 = load float, float* %scevgep455, align 4
  %63 = fdiv reassoc ninf nsz float %62, %19
  store float %63, float* %scevgep455, align 4
  %indvars.iv.next51.i = add nuw nsw i64 %indvars.iv50.i, 1
  %exitcond54.not.i = icmp eq i64 %wide.trip.count53.i, %indvars.iv.next51.i
  br i1 %exitcond54.not.i, label %for_loop_body1.i.preheader.loopexit, label %for_loop_body.i, !llvm.loop !10

for_loop_body1.i.preheader.loopexit:              ; preds = %for_loop_body.i
  br label %for_loop_body1.i.preheader

for_loop_body1.i.preheader:                       ; preds = %for_loop_body1.i.preheader.loopexit, %middle.block
  %64 = getelementptr float, float* %16, i64 1
  %65 = getelementptr float, float* %16, i64 2
  %min.iters.check73 = icmp ult i32 %3, 24
  br i1 %min.iters.check73, label %for_loop_body1.i.preheader182, label %vector.scevcheck

vector.scevcheck:                                 ; preds = %for_loop_body1.i.preheader
  %66 = add nsw i64 %wide.trip.count53.i, -1
  %67 = trunc i64 %66 to i32
  %mul = call { i32, i1 } @llvm.umul.with.overflow.i32(i32 %67, i32 3)
  %mul.result = extractvalue { i32, i1 } %mul, 0
  %mul.overflow = extractvalue { i32, i1 } %mul, 1
  %68 = icmp slt i32 %mul.result, 0
  %69 = or i1 %68, %mul.overflow
  %70 = icmp ugt i32 %mul.result, 2147483646
  %71 = or i1 %70, %mul.overflow
  %72 = icmp ugt i64 %66, 4294967295
  %73 = or i1 %71, %72
  %74 = icmp ugt i32 %mul.result, 2147483645
  %75 = or i1 %74, %mul.overflow
  %scevgep = getelementptr float, float* %9, i64 2
  %mul26 = call { i64, i1 } @llvm.umul.with.overflow.i64(i64 %66, i64 12)
  %mul.result27 = extractvalue { i64, i1 } %mul26, 0
  %mul.overflow28 = extractvalue { i64, i1 } %mul26, 1
  %scevgep29 = bitcast float* %scevgep to i8*
  %76 = getelementptr i8, i8* %scevgep29, i64 %mul.result27
  %77 = icmp ult i8* %76, %scevgep29
  %78 = or i1 %77, %mul.overflow28
  %scevgep30 = getelementptr float, float* %9, i64 1
  %scevgep3034 = bitcast float* %scevgep30 to i8*
  %79 = getelementptr i8, i8* %scevgep3034, i64 %mul.result27
  %80 = icmp ult i8* %79, %scevgep3034
  %81 = or i1 %80, %mul.overflow28
  %82 = getelementptr i8, i8* %10, i64 %mul.result27
  %83 = icmp ult i8* %82, %10
  %84 = or i1 %83, %mul.overflow28
  %85 = or i1 %75, %73
  %86 = or i1 %85, %78
  %87 = or i1 %86, %81
  %88 = or i1 %87, %84
  br i1 %88, label %for_loop_body1.i.preheader182, label %vector.memcheck

vector.memcheck:                                  ; preds = %vector.scevcheck
  %scevgep38 = getelementptr float, float* %12, i64 %wide.trip.count53.i
  %scevgep40 = getelementptr float, float* %16, i64 3
  %scevgep42 = getelementptr float, float* %7, i64 %wide.trip.count53.i
  %89 = mul nuw nsw i64 %wide.trip.count53.i, 3
  %scevgep44 = getelementptr float, float* %9, i64 %89
  %scevgep46 = getelementptr float, float* %5, i64 %89
  %bound0 = icmp ult float* %12, %scevgep40
  %bound1 = icmp ult float* %16, %scevgep38
  %found.conflict = and i1 %bound0, %bound1
  %bound048 = icmp ult float* %12, %scevgep42
  %bound149 = icmp ult float* %7, %scevgep38
  %found.conflict50 = and i1 %bound048, %bound149
  %conflict.rdx = or i1 %found.conflict, %found.conflict50
  %bound051 = icmp ult float* %12, %scevgep44
  %bound152 = icmp ult float* %9, %scevgep38
  %found.conflict53 = and i1 %bound051, %bound152
  %conflict.rdx54 = or i1 %conflict.rdx, %found.conflict53
  %bound055 = icmp ult float* %12, %scevgep46
  %bound156 = icmp ult float* %5, %scevgep38
  %found.conflict57 = and i1 %bound055, %bound156
  %conflict.rdx58 = or i1 %conflict.rdx54, %found.conflict57
  %bound059 = icmp ult float* %16, %scevgep44
  %bound160 = icmp ult float* %9, %scevgep40
  %found.conflict61 = and i1 %bound059, %bound160
  %conflict.rdx62 = or i1 %conflict.rdx58, %found.conflict61
  %bound063 = icmp ult float* %7, %scevgep44
  %bound164 = icmp ult float* %9, %scevgep42
  %found.conflict65 = and i1 %bound063, %bound164
  %conflict.rdx66 = or i1 %conflict.rdx62, %found.conflict65
  %bound067 = icmp ult float* %9, %scevgep46
  %bound168 = icmp ult float* %5, %scevgep44
  %found.conflict69 = and i1 %bound067, %bound168
  %conflict.rdx70 = or i1 %conflict.rdx66, %found.conflict69
  br i1 %conflict.rdx70, label %for_loop_body1.i.preheader182, label %vector.ph74

vector.ph74:                                      ; preds = %vector.memcheck
  %n.vec76 = and i64 %wide.trip.count53.i, 4294967288
  %90 = add nsw i64 %n.vec76, -8
  %91 = lshr exact i64 %90, 3
  %92 = add nuw nsw i64 %91, 1
  %xtraiter188 = and i64 %92, 7
  %93 = icmp ult i64 %90, 56
  br i1 %93, label %middle.block71.unr-lcssa, label %vector.ph74.new

vector.ph74.new:                                  ; preds = %vector.ph74
  %unroll_iter191 = and i64 %92, 4611686018427387896
  %94 = getelementptr float, float* %9, i64 -2
  %scevgep382 = getelementptr float, float* %12, i64 56
  %scevgep429 = getelementptr float, float* %7, i64 56
  br label %vector.body79

vector.body79:                                    ; preds = %vector.body79, %vector.ph74.new
  %lsr.iv453 = phi i64 [ %lsr.iv.next454, %vector.body79 ], [ %unroll_iter191, %vector.ph74.new ]
  %lsr.iv380 = phi i32 [ %lsr.iv.next381, %vector.body79 ], [ 96, %vector.ph74.new ]
  %index80 = phi i64 [ 0, %vector.ph74.new ], [ %index.next95.7, %vector.body79 ]
  %95 = load float, float* %16, align 4, !alias.scope !12, !noalias !15
  %broadcast.splatinsert84 = insertelement <8 x float> poison, float %95, i64 0
  %broadcast.splat85 = shufflevector <8 x float> %broadcast.splatinsert84, <8 x float> poison, <8 x i32> zeroinitializer
  %96 = load float, float* %64, align 4, !alias.scope !12, !noalias !15
  %broadcast.splatinsert86 = insertelement <8 x float> poison, float %96, i64 0
  %broadcast.splat87 = shufflevector <8 x float> %broadcast.splatinsert86, <8 x float> poison, <8 x i32> zeroinitializer
  %97 = load float, float* %65, align 4, !alias.scope !12, !noalias !15
  %broadcast.splatinsert88 = insertelement <8 x float> poison, float %97, i64 0
  %broadcast.splat89 = shufflevector <8 x float> %broadcast.splatinsert88, <8 x float> poison, <8 x i32> zeroinitializer
  %98 = add i32 %lsr.iv380, -96
  %99 = sext i32 %98 to i64
  %100 = getelementptr float, float* %5, i64 %99
  %101 = bitcast float* %100 to <24 x float>*
  %wide.vec = load <24 x float>, <24 x float>* %101, align 4
  %strided.vec = shufflevector <24 x float> %wide.vec, <24 x float> poison, <8 x i32> <i32 0, i32 3, i32 6, i32 9, i32 12, i32 15, i32 18, i32 21>
  %strided.vec81 = shufflevector <24 x float> %wide.vec, <24 x float> poison, <8 x i32> <i32 1, i32 4, i32 7, i32 10, i32 13, i32 16, i32 19, i32 22>
  %strided.vec82 = shufflevector <24 x float> %wide.vec, <24 x float> poison, <8 x i32> <i32 2, i32 5, i32 8, i32 11, i32 14, i32 17, i32 20, i32 23>
  %102 = add i32 %lsr.iv380, -94
  %103 = sext i32 %102 to i64
  %scevgep423 = getelementptr float, float* %scevgep382, i64 %index80
  %scevgep423424 = bitcast float* %scevgep423 to <8 x float>*
  %scevgep425 = getelementptr <8 x float>, <8 x float>* %scevgep423424, i64 -7
  %wide.load83 = load <8 x float>, <8 x float>* %scevgep425, align 4, !alias.scope !17, !noalias !19
  %104 = fmul reassoc ninf nsz <8 x float> %strided.vec, %broadcast.splat85
  %105 = fmul reassoc ninf nsz <8 x float> %strided.vec81, %broadcast.splat87
  %106 = fadd reassoc ninf nsz <8 x float> %105, %104
  %107 = fmul reassoc ninf nsz <8 x float> %strided.vec82, %broadcast.splat89
  %108 = fadd reassoc ninf nsz <8 x float> %106, %107
  %109 = fadd reassoc ninf nsz <8 x float> %108, %wide.load83
  store <8 x float> %109, <8 x float>* %scevgep425, align 4, !alias.scope !17, !noalias !19
  %110 = getelementptr float, float* %9, i64 %99
  %111 = bitcast float* %110 to <24 x float>*
  %wide.vec90 = load <24 x float>, <24 x float>* %111, align 4
  %strided.vec91 = shufflevector <24 x float> %wide.vec90, <24 x float> poison, <8 x i32> <i32 0, i32 3, i32 6, i32 9, i32 12, i32 15, i32 18, i32 21>
  %strided.vec92 = shufflevector <24 x float> %wide.vec90, <24 x float> poison, <8 x i32> <i32 1, i32 4, i32 7, i32 10, i32 13, i32 16, i32 19, i32 22>
  %strided.vec93 = shufflevector <24 x float> %wide.vec90, <24 x float> poison, <8 x i32> <i32 2, i32 5, i32 8, i32 11, i32 14, i32 17, i32 20, i32 23>
  %scevgep450 = getelementptr float, float* %scevgep429, i64 %index80
  %scevgep450451 = bitcast float* %scevgep450 to <8 x float>*
  %scevgep452 = getelementptr <8 x float>, <8 x float>* %scevgep450451, i64 -7
  %wide.load94 = load <8 x float>, <8 x float>* %scevgep452, align 4, !alias.scope !22, !noalias !15
  %112 = fmul reassoc ninf nsz <8 x float> %wide.load94, %broadcast.splat85
  %113 = fmul reassoc ninf nsz <8 x float> %wide.load94, %broadcast.splat87
  %114 = fmul reassoc ninf nsz <8 x float> %wide.load94, %broadcast.splat89
  %115 = fadd reassoc ninf nsz <8 x float> %112, %strided.vec91
  %116 = fadd reassoc ninf nsz <8 x float> %113, %strided.vec92
  %117 = fadd reassoc ninf nsz <8 x float> %114, %strided.vec93
  %118 = getelementptr float, float* %94, i64 %103
  %119 = bitcast float* %118 to <24 x float>*
  %120 = shufflevector <8 x float> %115, <8 x float> %116, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %121 = shufflevector <8 x float> %117, <8 x float> poison, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>
  %interleaved.vec = shufflevector <16 x float> %120, <16 x float> %121, <24 x i32> <i32 0, i32 8, i32 16, i32 1, i32 9, i32 17, i32 2, i32 10, i32 18, i32 3, i32 11, i32 19, i32 4, i32 12, i32 20, i32 5, i32 13, i32 21, i32 6, i32 14, i32 22, i32 7, i32 15, i32 23>
  store <24 x float> %interleaved.vec, <24 x float>* %119, align 4
  %122 = load float, float* %16, align 4, !alias.scope !12, !noalias !15
  %broadcast.splatinsert84.1 = insertelement <8 x float> poison, float %122, i64 0
  %broadcast.splat85.1 = shufflevector <8 x float> %broadcast.splatinsert84.1, <8 x float> poison, <8 x i32> zeroinitializer
  %123 = load float, float* %64, align 4, !alias.scope !12, !noalias !15
  %broadcast.splatinsert86.1 = insertelement <8 x float> poison, float %123, i64 0
  %broadcast.splat87.1 = shufflevector <8 x float> %broadcast.splatinsert86.1, <8 x float> poison, <8 x i32> zeroinitializer
  %124 = load float, float* %65, align 4, !alias.scope !12, !noalias !15
  %broadcast.splatinsert88.1 = insertelement <8 x float> poison, float %124, i64 0
  %broadcast.splat89.1 = shufflevector <8 x float> %broadcast.splatinsert88.1, <8 x float> poison, <8 x i32> zeroinitializer
  %125 = add i32 %lsr.iv380, -72
  %126 = sext i32 %125 to i64
  %127 = getelementptr float, float* %5, i64 %126
  %128 = bitcast float* %127 to <24 x float>*
  %wide.vec.1 = load <24 x float>, <24 x float>* %128, align 4
  %strided.vec.1 = shufflevector <24 x float> %wide.vec.1, <24 x float> poison, <8 x i32> <i32 0, i32 3, i32 6, i32 9, i32 12, i32 15, i32 18, i32 21>
  %strided.vec81.1 = shufflevector <24 x float> %wide.vec.1, <24 x float> poison, <8 x i32> <i32 1, i32 4, i32 7, i32 10, i32 13, i32 16, i32 19, i32 22>
  %strided.vec82.1 = shufflevector <24 x float> %wide.vec.1, <24 x float> poison, <8 x i32> <i32 2, i32 5, i32 8, i32 11, i32 14, i32 17, i32 20, i32 23>
  %129 = add i32 %lsr.iv380, -70
  %130 = sext i32 %129 to i64
  %scevgep418 = getelementptr <8 x float>, <8 x float>* %scevgep423424, i64 -6
  %wide.load83.1 = load <8 x float>, <8 x float>* %scevgep418, align 4, !alias.scope !17, !noalias !19
  %131 = fmul reassoc ninf nsz <8 x float> %strided.vec.1, %broadcast.splat85.1
  %132 = fmul reassoc ninf nsz <8 x float> %strided.vec81.1, %broadcast.splat87.1
  %133 = fadd reassoc ninf nsz <8 x float> %132, %131
  %134 = fmul reassoc ninf nsz <8 x float> %strided.vec82.1, %broadcast.splat89.1
  %135 = fadd reassoc ninf nsz <8 x float> %133, %134
  %136 = fadd reassoc ninf nsz <8 x float> %135, %wide.load83.1
  store <8 x float> %136, <8 x float>* %scevgep418, align 4, !alias.scope !17, !noalias !19
  %137 = getelementptr float, float* %9, i64 %126
  %138 = bitcast float* %137 to <24 x float>*
  %wide.vec90.1 = load <24 x float>, <24 x float>* %138, align 4
  %strided.vec91.1 = shufflevector <24 x float> %wide.vec90.1, <24 x float> poison, <8 x i32> <i32 0, i32 3, i32 6, i32 9, i32 12, i32 15, i32 18, i32 21>
  %strided.vec92.1 = shufflevector <24 x float> %wide.vec90.1, <24 x float> poison, <8 x i32> <i32 1, i32 4, i32 7, i32 10, i32 13, i32 16, i32 19, i32 22>
  %strided.vec93.1 = shufflevector <24 x float> %wide.vec90.1, <24 x float> poison, <8 x i32> <i32 2, i32 5, i32 8, i32 11, i32 14, i32 17, i32 20, i32 23>
  %scevgep447 = getelementptr <8 x float>, <8 x float>* %scevgep450451, i64 -6
  %wide.load94.1 = load <8 x float>, <8 x float>* %scevgep447, align 4, !alias.scope !22, !noalias !15
  %139 = fmul reassoc ninf nsz <8 x float> %wide.load94.1, %broadcast.splat85.1
  %140 = fmul reassoc ninf nsz <8 x float> %wide.load94.1, %broadcast.splat87.1
  %141 = fmul reassoc ninf nsz <8 x float> %wide.load94.1, %broadcast.splat89.1
  %142 = fadd reassoc ninf nsz <8 x float> %139, %strided.vec91.1
  %143 = fadd reassoc ninf nsz <8 x float> %140, %strided.vec92.1
  %144 = fadd reassoc ninf nsz <8 x float> %141, %strided.vec93.1
  %145 = getelementptr float, float* %94, i64 %130
  %146 = bitcast float* %145 to <24 x float>*
  %147 = shufflevector <8 x float> %142, <8 x float> %143, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %148 = shufflevector <8 x float> %144, <8 x float> poison, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>
  %interleaved.vec.1 = shufflevector <16 x float> %147, <16 x float> %148, <24 x i32> <i32 0, i32 8, i32 16, i32 1, i32 9, i32 17, i32 2, i32 10, i32 18, i32 3, i32 11, i32 19, i32 4, i32 12, i32 20, i32 5, i32 13, i32 21, i32 6, i32 14, i32 22, i32 7, i32 15, i32 23>
  store <24 x float> %interleaved.vec.1, <24 x float>* %146, align 4
  %149 = load float, float* %16, align 4, !alias.scope !12, !noalias !15
  %broadcast.splatinsert84.2 = insertelement <8 x float> poison, float %149, i64 0
  %broadcast.splat85.2 = shufflevector <8 x float> %broadcast.splatinsert84.2, <8 x float> poison, <8 x i32> zeroinitializer
  %150 = load float, float* %64, align 4, !alias.scope !12, !noalias !15
  %broadcast.splatinsert86.2 = insertelement <8 x float> poison, float %150, i64 0
  %broadcast.splat87.2 = shufflevector <8 x float> %broadcast.splatinsert86.2, <8 x float> poison, <8 x i32> zeroinitializer
  %151 = load float, float* %65, align 4, !alias.scope !12, !noalias !15
  %broadcast.splatinsert88.2 = insertelement <8 x float> poison, float %151, i64 0
  %broadcast.splat89.2 = shufflevector <8 x float> %broadcast.splatinsert88.2, <8 x float> poison, <8 x i32> zeroinitializer
  %152 = add i32 %lsr.iv380, -48
  %153 = sext i32 %152 to i64
  %154 = getelementptr float, float* %5, i64 %153
  %155 = bitcast float* %154 to <24 x float>*
  %wide.vec.2 = load <24 x float>, <24 x float>* %155, align 4
  %strided.vec.2 = shufflevector <24 x float> %wide.vec.2, <24 x float> poison, <8 x i32> <i32 0, i32 3, i32 6, i32 9, i32 12, i32 15, i32 18, i32 21>
  %strided.vec81.2 = shufflevector <24 x float> %wide.vec.2, <24 x float> poison, <8 x i32> <i32 1, i32 4, i32 7, i32 10, i32 13, i32 16, i32 19, i32 22>
  %strided.vec82.2 = shufflevector <24 x float> %wide.vec.2, <24 x float> poison, <8 x i32> <i32 2, i32 5, i32 8, i32 11, i32 14, i32 17, i32 20, i32 23>
  %156 = add i32 %lsr.iv380, -46
  %157 = sext i32 %156 to i64
  %scevgep412 = getelementptr <8 x float>, <8 x float>* %scevgep423424, i64 -5
  %wide.load83.2 = load <8 x float>, <8 x float>* %scevgep412, align 4, !alias.scope !17, !noalias !19
  %158 = fmul reassoc ninf nsz <8 x float> %strided.vec.2, %broadcast.splat85.2
  %159 = fmul reassoc ninf nsz <8 x float> %strided.vec81.2, %broadcast.splat87.2
  %160 = fadd reassoc ninf nsz <8 x float> %159, %158
  %161 = fmul reassoc ninf nsz <8 x float> %strided.vec82.2, %broadcast.splat89.2
  %162 = fadd reassoc ninf nsz <8 x float> %160, %161
  %163 = fadd reassoc ninf nsz <8 x float> %162, %wide.load83.2
  store <8 x float> %163, <8 x float>* %scevgep412, align 4, !alias.scope !17, !noalias !19
  %164 = getelementptr float, float* %9, i64 %153
  %165 = bitcast float* %164 to <24 x float>*
  %wide.vec90.2 = load <24 x float>, <24 x float>* %165, align 4
  %strided.vec91.2 = shufflevector <24 x float> %wide.vec90.2, <24 x float> poison, <8 x i32> <i32 0, i32 3, i32 6, i32 9, i32 12, i32 15, i32 18, i32 21>
  %strided.vec92.2 = shufflevector <24 x float> %wide.vec90.2, <24 x float> poison, <8 x i32> <i32 1, i32 4, i32 7, i32 10, i32 13, i32 16, i32 19, i32 22>
  %strided.vec93.2 = shufflevector <24 x float> %wide.vec90.2, <24 x float> poison, <8 x i32> <i32 2, i32 5, i32 8, i32 11, i32 14, i32 17, i32 20, i32 23>
  %scevgep444 = getelementptr <8 x float>, <8 x float>* %scevgep450451, i64 -5
  %wide.load94.2 = load <8 x float>, <8 x float>* %scevgep444, align 4, !alias.scope !22, !noalias !15
  %166 = fmul reassoc ninf nsz <8 x float> %wide.load94.2, %broadcast.splat85.2
  %167 = fmul reassoc ninf nsz <8 x float> %wide.load94.2, %broadcast.splat87.2
  %168 = fmul reassoc ninf nsz <8 x float> %wide.load94.2, %broadcast.splat89.2
  %169 = fadd reassoc ninf nsz <8 x float> %166, %strided.vec91.2
  %170 = fadd reassoc ninf nsz <8 x float> %167, %strided.vec92.2
  %171 = fadd reassoc ninf nsz <8 x float> %168, %strided.vec93.2
  %172 = getelementptr float, float* %94, i64 %157
  %173 = bitcast float* %172 to <24 x float>*
  %174 = shufflevector <8 x float> %169, <8 x float> %170, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %175 = shufflevector <8 x float> %171, <8 x float> poison, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>
  %interleaved.vec.2 = shufflevector <16 x float> %174, <16 x float> %175, <24 x i32> <i32 0, i32 8, i32 16, i32 1, i32 9, i32 17, i32 2, i32 10, i32 18, i32 3, i32 11, i32 19, i32 4, i32 12, i32 20, i32 5, i32 13, i32 21, i32 6, i32 14, i32 22, i32 7, i32 15, i32 23>
  store <24 x float> %interleaved.vec.2, <24 x float>* %173, align 4
  %176 = load float, float* %16, align 4, !alias.scope !12, !noalias !15
  %broadcast.splatinsert84.3 = insertelement <8 x float> poison, float %176, i64 0
  %broadcast.splat85.3 = shufflevector <8 x float> %broadcast.splatinsert84.3, <8 x float> poison, <8 x i32> zeroinitializer
  %177 = load float, float* %64, align 4, !alias.scope !12, !noalias !15
  %broadcast.splatinsert86.3 = insertelement <8 x float> poison, float %177, i64 0
  %broadcast.splat87.3 = shufflevector <8 x float> %broadcast.splatinsert86.3, <8 x float> poison, <8 x i32> zeroinitializer
  %178 = load float, float* %65, align 4, !alias.scope !12, !noalias !15
  %broadcast.splatinsert88.3 = insertelement <8 x float> poison, float %178, i64 0
  %broadcast.splat89.3 = shufflevector <8 x float> %broadcast.splatinsert88.3, <8 x float> poison, <8 x i32> zeroinitializer
  %179 = sext i32 %lsr.iv380 to i64
  %180 = getelementptr float, float* %5, i64 %179
  %181 = getelementptr float, float* %180, i64 -24
  %182 = bitcast float* %181 to <24 x float>*
  %wide.vec.3 = load <24 x float>, <24 x float>* %182, align 4
  %strided.vec.3 = shufflevector <24 x float> %wide.vec.3, <24 x float> poison, <8 x i32> <i32 0, i32 3, i32 6, i32 9, i32 12, i32 15, i32 18, i32 21>
  %strided.vec81.3 = shufflevector <24 x float> %wide.vec.3, <24 x float> poison, <8 x i32> <i32 1, i32 4, i32 7, i32 10, i32 13, i32 16, i32 19, i32 22>
  %strided.vec82.3 = shufflevector <24 x float> %wide.vec.3, <24 x float> poison, <8 x i32> <i32 2, i32 5, i32 8, i32 11, i32 14, i32 17, i32 20, i32 23>
  %scevgep406 = getelementptr <8 x float>, <8 x float>* %scevgep423424, i64 -4
  %wide.load83.3 = load <8 x float>, <8 x float>* %scevgep406, align 4, !alias.scope !17, !noalias !19
  %183 = fmul reassoc ninf nsz <8 x float> %strided.vec.3, %broadcast.splat85.3
  %184 = fmul reassoc ninf nsz <8 x float> %strided.vec81.3, %broadcast.splat87.3
  %185 = fadd reassoc ninf nsz <8 x float> %184, %183
  %186 = fmul reassoc ninf nsz <8 x float> %strided.vec82.3, %broadcast.splat89.3
  %187 = fadd reassoc ninf nsz <8 x float> %185, %186
  %188 = fadd reassoc ninf nsz <8 x float> %187, %wide.load83.3
  store <8 x float> %188, <8 x float>* %scevgep406, align 4, !alias.scope !17, !noalias !19
  %189 = getelementptr float, float* %9, i64 %179
  %190 = getelementptr float, float* %189, i64 -24
  %191 = bitcast float* %190 to <24 x float>*
  %wide.vec90.3 = load <24 x float>, <24 x float>* %191, align 4
  %strided.vec91.3 = shufflevector <24 x float> %wide.vec90.3, <24 x float> poison, <8 x i32> <i32 0, i32 3, i32 6, i32 9, i32 12, i32 15, i32 18, i32 21>
  %strided.vec92.3 = shufflevector <24 x float> %wide.vec90.3, <24 x float> poison, <8 x i32> <i32 1, i32 4, i32 7, i32 10, i32 13, i32 16, i32 19, i32 22>
  %strided.vec93.3 = shufflevector <24 x float> %wide.vec90.3, <24 x float> poison, <8 x i32> <i32 2, i32 5, i32 8, i32 11, i32 14, i32 17, i32 20, i32 23>
  %scevgep441 = getelementptr <8 x float>, <8 x float>* %scevgep450451, i64 -4
  %wide.load94.3 = load <8 x float>, <8 x float>* %scevgep441, align 4, !alias.scope !22, !noalias !15
  %192 = fmul reassoc ninf nsz <8 x float> %wide.load94.3, %broadcast.splat85.3
  %193 = fmul reassoc ninf nsz <8 x float> %wide.load94.3, %broadcast.splat87.3
  %194 = fmul reassoc ninf nsz <8 x float> %wide.load94.3, %broadcast.splat89.3
  %195 = fadd reassoc ninf nsz <8 x float> %192, %strided.vec91.3
  %196 = fadd reassoc ninf nsz <8 x float> %193, %strided.vec92.3
  %197 = fadd reassoc ninf nsz <8 x float> %194, %strided.vec93.3
  %198 = getelementptr float, float* %94, i64 %179
  %199 = getelementptr float, float* %198, i64 -22
  %200 = bitcast float* %199 to <24 x float>*
  %201 = shufflevector <8 x float> %195, <8 x float> %196, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %202 = shufflevector <8 x float> %197, <8 x float> poison, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>
  %interleaved.vec.3 = shufflevector <16 x float> %201, <16 x float> %202, <24 x i32> <i32 0, i32 8, i32 16, i32 1, i32 9, i32 17, i32 2, i32 10, i32 18, i32 3, i32 11, i32 19, i32 4, i32 12, i32 20, i32 5, i32 13, i32 21, i32 6, i32 14, i32 22, i32 7, i32 15, i32 23>
  store <24 x float> %interleaved.vec.3, <24 x float>* %200, align 4
  %203 = load float, float* %16, align 4, !alias.scope !12, !noalias !15
  %broadcast.splatinsert84.4 = insertelement <8 x float> poison, float %203, i64 0
  %broadcast.splat85.4 = shufflevector <8 x float> %broadcast.splatinsert84.4, <8 x float> poison, <8 x i32> zeroinitializer
  %204 = load float, float* %64, align 4, !alias.scope !12, !noalias !15
  %broadcast.splatinsert86.4 = insertelement <8 x float> poison, float %204, i64 0
  %broadcast.splat87.4 = shufflevector <8 x float> %broadcast.splatinsert86.4, <8 x float> poison, <8 x i32> zeroinitializer
  %205 = load float, float* %65, align 4, !alias.scope !12, !noalias !15
  %broadcast.splatinsert88.4 = insertelement <8 x float> poison, float %205, i64 0
  %broadcast.splat89.4 = shufflevector <8 x float> %broadcast.splatinsert88.4, <8 x float> poison, <8 x i32> zeroinitializer
  %206 = bitcast float* %180 to <24 x float>*
  %wide.vec.4 = load <24 x float>, <24 x float>* %206, align 4
  %strided.vec.4 = shufflevector <24 x float> %wide.vec.4, <24 x float> poison, <8 x i32> <i32 0, i32 3, i32 6, i32 9, i32 12, i32 15, i32 18, i32 21>
  %strided.vec81.4 = shufflevector <24 x float> %wide.vec.4, <24 x float> poison, <8 x i32> <i32 1, i32 4, i32 7, i32 10, i32 13, i32 16, i32 19, i32 22>
  %strided.vec82.4 = shufflevector <24 x float> %wide.vec.4, <24 x float> poison, <8 x i32> <i32 2, i32 5, i32 8, i32 11, i32 14, i32 17, i32 20, i32 23>
  %scevgep400 = getelementptr <8 x float>, <8 x float>* %scevgep423424, i64 -3
  %wide.load83.4 = load <8 x float>, <8 x float>* %scevgep400, align 4, !alias.scope !17, !noalias !19
  %207 = fmul reassoc ninf nsz <8 x float> %strided.vec.4, %broadcast.splat85.4
  %208 = fmul reassoc ninf nsz <8 x float> %strided.vec81.4, %broadcast.splat87.4
  %209 = fadd reassoc ninf nsz <8 x float> %208, %207
  %210 = fmul reassoc ninf nsz <8 x float> %strided.vec82.4, %broadcast.splat89.4
  %211 = fadd reassoc ninf nsz <8 x float> %209, %210
  %212 = fadd reassoc ninf nsz <8 x float> %211, %wide.load83.4
  store <8 x float> %212, <8 x float>* %scevgep400, align 4, !alias.scope !17, !noalias !19
  %213 = bitcast float* %189 to <24 x float>*
  %wide.vec90.4 = load <24 x float>, <24 x float>* %213, align 4
  %strided.vec91.4 = shufflevector <24 x float> %wide.vec90.4, <24 x float> poison, <8 x i32> <i32 0, i32 3, i32 6, i32 9, i32 12, i32 15, i32 18, i32 21>
  %strided.vec92.4 = shufflevector <24 x float> %wide.vec90.4, <24 x float> poison, <8 x i32> <i32 1, i32 4, i32 7, i32 10, i32 13, i32 16, i32 19, i32 22>
  %strided.vec93.4 = shufflevector <24 x float> %wide.vec90.4, <24 x float> poison, <8 x i32> <i32 2, i32 5, i32 8, i32 11, i32 14, i32 17, i32 20, i32 23>
  %scevgep438 = getelementptr <8 x float>, <8 x float>* %scevgep450451, i64 -3
  %wide.load94.4 = load <8 x float>, <8 x float>* %scevgep438, align 4, !alias.scope !22, !noalias !15
  %214 = fmul reassoc ninf nsz <8 x float> %wide.load94.4, %broadcast.splat85.4
  %215 = fmul reassoc ninf nsz <8 x float> %wide.load94.4, %broadcast.splat87.4
  %216 = fmul reassoc ninf nsz <8 x float> %wide.load94.4, %broadcast.splat89.4
  %217 = fadd reassoc ninf nsz <8 x float> %214, %strided.vec91.4
  %218 = fadd reassoc ninf nsz <8 x float> %215, %strided.vec92.4
  %219 = fadd reassoc ninf nsz <8 x float> %216, %strided.vec93.4
  %220 = getelementptr float, float* %198, i64 2
  %221 = bitcast float* %220 to <24 x float>*
  %222 = shufflevector <8 x float> %217, <8 x float> %218, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %223 = shufflevector <8 x float> %219, <8 x float> poison, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>
  %interleaved.vec.4 = shufflevector <16 x float> %222, <16 x float> %223, <24 x i32> <i32 0, i32 8, i32 16, i32 1, i32 9, i32 17, i32 2, i32 10, i32 18, i32 3, i32 11, i32 19, i32 4, i32 12, i32 20, i32 5, i32 13, i32 21, i32 6, i32 14, i32 22, i32 7, i32 15, i32 23>
  store <24 x float> %interleaved.vec.4, <24 x float>* %221, align 4
  %224 = load float, float* %16, align 4, !alias.scope !12, !noalias !15
  %broadcast.splatinsert84.5 = insertelement <8 x float> poison, float %224, i64 0
  %broadcast.splat85.5 = shufflevector <8 x float> %broadcast.splatinsert84.5, <8 x float> poison, <8 x i32> zeroinitializer
  %225 = load float, float* %64, align 4, !alias.scope !12, !noalias !15
  %broadcast.splatinsert86.5 = insertelement <8 x float> poison, float %225, i64 0
  %broadcast.splat87.5 = shufflevector <8 x float> %broadcast.splatinsert86.5, <8 x float> poison, <8 x i32> zeroinitializer
  %226 = load float, float* %65, align 4, !alias.scope !12, !noalias !15
  %broadcast.splatinsert88.5 = insertelement <8 x float> poison, float %226, i64 0
  %broadcast.splat89.5 = shufflevector <8 x float> %broadcast.splatinsert88.5, <8 x float> poison, <8 x i32> zeroinitializer
  %227 = getelementptr float, float* %180, i64 24
  %228 = bitcast float* %227 to <24 x float>*
  %wide.vec.5 = load <24 x float>, <24 x float>* %228, align 4
  %strided.vec.5 = shufflevector <24 x float> %wide.vec.5, <24 x float> poison, <8 x i32> <i32 0, i32 3, i32 6, i32 9, i32 12, i32 15, i32 18, i32 21>
  %strided.vec81.5 = shufflevector <24 x float> %wide.vec.5, <24 x float> poison, <8 x i32> <i32 1, i32 4, i32 7, i32 10, i32 13, i32 16, i32 19, i32 22>
  %strided.vec82.5 = shufflevector <24 x float> %wide.vec.5, <24 x float> poison, <8 x i32> <i32 2, i32 5, i32 8, i32 11, i32 14, i32 17, i32 20, i32 23>
  %scevgep394 = getelementptr <8 x float>, <8 x float>* %scevgep423424, i64 -2
  %wide.load83.5 = load <8 x float>, <8 x float>* %scevgep394, align 4, !alias.scope !17, !noalias !19
  %229 = fmul reassoc ninf nsz <8 x float> %strided.vec.5, %broadcast.splat85.5
  %230 = fmul reassoc ninf nsz <8 x float> %strided.vec81.5, %broadcast.splat87.5
  %231 = fadd reassoc ninf nsz <8 x float> %230, %229
  %232 = fmul reassoc ninf nsz <8 x float> %strided.vec82.5, %broadcast.splat89.5
  %233 = fadd reassoc ninf nsz <8 x float> %231, %232
  %234 = fadd reassoc ninf nsz <8 x float> %233, %wide.load83.5
  store <8 x float> %234, <8 x float>* %scevgep394, align 4, !alias.scope !17, !noalias !19
  %235 = getelementptr float, float* %189, i64 24
  %236 = bitcast float* %235 to <24 x float>*
  %wide.vec90.5 = load <24 x float>, <24 x float>* %236, align 4
  %strided.vec91.5 = shufflevector <24 x float> %wide.vec90.5, <24 x float> poison, <8 x i32> <i32 0, i32 3, i32 6, i32 9, i32 12, i32 15, i32 18, i32 21>
  %strided.vec92.5 = shufflevector <24 x float> %wide.vec90.5, <24 x float> poison, <8 x i32> <i32 1, i32 4, i32 7, i32 10, i32 13, i32 16, i32 19, i32 22>
  %strided.vec93.5 = shufflevector <24 x float> %wide.vec90.5, <24 x float> poison, <8 x i32> <i32 2, i32 5, i32 8, i32 11, i32 14, i32 17, i32 20, i32 23>
  %scevgep435 = getelementptr <8 x float>, <8 x float>* %scevgep450451, i64 -2
  %wide.load94.5 = load <8 x float>, <8 x float>* %scevgep435, align 4, !alias.scope !22, !noalias !15
  %237 = fmul reassoc ninf nsz <8 x float> %wide.load94.5, %broadcast.splat85.5
  %238 = fmul reassoc ninf nsz <8 x float> %wide.load94.5, %broadcast.splat87.5
  %239 = fmul reassoc ninf nsz <8 x float> %wide.load94.5, %broadcast.splat89.5
  %240 = fadd reassoc ninf nsz <8 x float> %237, %strided.vec91.5
  %241 = fadd reassoc ninf nsz <8 x float> %238, %strided.vec92.5
  %242 = fadd reassoc ninf nsz <8 x float> %239, %strided.vec93.5
  %243 = getelementptr float, float* %198, i64 26
  %244 = bitcast float* %243 to <24 x float>*
  %245 = shufflevector <8 x float> %240, <8 x float> %241, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %246 = shufflevector <8 x float> %242, <8 x float> poison, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>
  %interleaved.vec.5 = shufflevector <16 x float> %245, <16 x float> %246, <24 x i32> <i32 0, i32 8, i32 16, i32 1, i32 9, i32 17, i32 2, i32 10, i32 18, i32 3, i32 11, i32 19, i32 4, i32 12, i32 20, i32 5, i32 13, i32 21, i32 6, i32 14, i32 22, i32 7, i32 15, i32 23>
  store <24 x float> %interleaved.vec.5, <24 x float>* %244, align 4
  %247 = load float, float* %16, align 4, !alias.scope !12, !noalias !15
  %broadcast.splatinsert84.6 = insertelement <8 x float> poison, float %247, i64 0
  %broadcast.splat85.6 = shufflevector <8 x float> %broadcast.splatinsert84.6, <8 x float> poison, <8 x i32> zeroinitializer
  %248 = load float, float* %64, align 4, !alias.scope !12, !noalias !15
  %broadcast.splatinsert86.6 = insertelement <8 x float> poison, float %248, i64 0
  %broadcast.splat87.6 = shufflevector <8 x float> %broadcast.splatinsert86.6, <8 x float> poison, <8 x i32> zeroinitializer
  %249 = load float, float* %65, align 4, !alias.scope !12, !noalias !15
  %broadcast.splatinsert88.6 = insertelement <8 x float> poison, float %249, i64 0
  %broadcast.splat89.6 = shufflevector <8 x float> %broadcast.splatinsert88.6, <8 x float> poison, <8 x i32> zeroinitializer
  %250 = add i32 %lsr.iv380, 48
  %251 = sext i32 %250 to i64
  %252 = getelementptr float, float* %5, i64 %251
  %253 = bitcast float* %252 to <24 x float>*
  %wide.vec.6 = load <24 x float>, <24 x float>* %253, align 4
  %strided.vec.6 = shufflevector <24 x float> %wide.vec.6, <24 x float> poison, <8 x i32> <i32 0, i32 3, i32 6, i32 9, i32 12, i32 15, i32 18, i32 21>
  %strided.vec81.6 = shufflevector <24 x float> %wide.vec.6, <24 x float> poison, <8 x i32> <i32 1, i32 4, i32 7, i32 10, i32 13, i32 16, i32 19, i32 22>
  %strided.vec82.6 = shufflevector <24 x float> %wide.vec.6, <24 x float> poison, <8 x i32> <i32 2, i32 5, i32 8, i32 11, i32 14, i32 17, i32 20, i32 23>
  %254 = add i32 %lsr.iv380, 50
  %255 = sext i32 %254 to i64
  %scevgep388 = getelementptr <8 x float>, <8 x float>* %scevgep423424, i64 -1
  %wide.load83.6 = load <8 x float>, <8 x float>* %scevgep388, align 4, !alias.scope !17, !noalias !19
  %256 = fmul reassoc ninf nsz <8 x float> %strided.vec.6, %broadcast.splat85.6
  %257 = fmul reassoc ninf nsz <8 x float> %strided.vec81.6, %broadcast.splat87.6
  %258 = fadd reassoc ninf nsz <8 x float> %257, %256
  %259 = fmul reassoc ninf nsz <8 x float> %strided.vec82.6, %broadcast.splat89.6
  %260 = fadd reassoc ninf nsz <8 x float> %258, %259
  %261 = fadd reassoc ninf nsz <8 x float> %260, %wide.load83.6
  store <8 x float> %261, <8 x float>* %scevgep388, align 4, !alias.scope !17, !noalias !19
  %262 = getelementptr float, float* %9, i64 %251
  %263 = bitcast float* %262 to <24 x float>*
  %wide.vec90.6 = load <24 x float>, <24 x float>* %263, align 4
  %strided.vec91.6 = shufflevector <24 x float> %wide.vec90.6, <24 x float> poison, <8 x i32> <i32 0, i32 3, i32 6, i32 9, i32 12, i32 15, i32 18, i32 21>
  %strided.vec92.6 = shufflevector <24 x float> %wide.vec90.6, <24 x float> poison, <8 x i32> <i32 1, i32 4, i32 7, i32 10, i32 13, i32 16, i32 19, i32 22>
  %strided.vec93.6 = shufflevector <24 x float> %wide.vec90.6, <24 x float> poison, <8 x i32> <i32 2, i32 5, i32 8, i32 11, i32 14, i32 17, i32 20, i32 23>
  %scevgep432 = getelementptr <8 x float>, <8 x float>* %scevgep450451, i64 -1
  %wide.load94.6 = load <8 x float>, <8 x float>* %scevgep432, align 4, !alias.scope !22, !noalias !15
  %264 = fmul reassoc ninf nsz <8 x float> %wide.load94.6, %broadcast.splat85.6
  %265 = fmul reassoc ninf nsz <8 x float> %wide.load94.6, %broadcast.splat87.6
  %266 = fmul reassoc ninf nsz <8 x float> %wide.load94.6, %broadcast.splat89.6
  %267 = fadd reassoc ninf nsz <8 x float> %264, %strided.vec91.6
  %268 = fadd reassoc ninf nsz <8 x float> %265, %strided.vec92.6
  %269 = fadd reassoc ninf nsz <8 x float> %266, %strided.vec93.6
  %270 = getelementptr float, float* %94, i64 %255
  %271 = bitcast float* %270 to <24 x float>*
  %272 = shufflevector <8 x float> %267, <8 x float> %268, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %273 = shufflevector <8 x float> %269, <8 x float> poison, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>
  %interleaved.vec.6 = shufflevector <16 x float> %272, <16 x float> %273, <24 x i32> <i32 0, i32 8, i32 16, i32 1, i32 9, i32 17, i32 2, i32 10, i32 18, i32 3, i32 11, i32 19, i32 4, i32 12, i32 20, i32 5, i32 13, i32 21, i32 6, i32 14, i32 22, i32 7, i32 15, i32 23>
  store <24 x float> %interleaved.vec.6, <24 x float>* %271, align 4
  %274 = load float, float* %16, align 4, !alias.scope !12, !noalias !15
  %broadcast.splatinsert84.7 = insertelement <8 x float> poison, float %274, i64 0
  %broadcast.splat85.7 = shufflevector <8 x float> %broadcast.splatinsert84.7, <8 x float> poison, <8 x i32> zeroinitializer
  %275 = load float, float* %64, align 4, !alias.scope !12, !noalias !15
  %broadcast.splatinsert86.7 = insertelement <8 x float> poison, float %275, i64 0
  %broadcast.splat87.7 = shufflevector <8 x float> %broadcast.splatinsert86.7, <8 x float> poison, <8 x i32> zeroinitializer
  %276 = load float, float* %65, align 4, !alias.scope !12, !noalias !15
  %broadcast.splatinsert88.7 = insertelement <8 x float> poison, float %276, i64 0
  %broadcast.splat89.7 = shufflevector <8 x float> %broadcast.splatinsert88.7, <8 x float> poison, <8 x i32> zeroinitializer
  %277 = add i32 %lsr.iv380, 72
  %278 = sext i32 %277 to i64
  %279 = getelementptr float, float* %5, i64 %278
  %280 = bitcast float* %279 to <24 x float>*
  %wide.vec.7 = load <24 x float>, <24 x float>* %280, align 4
  %strided.vec.7 = shufflevector <24 x float> %wide.vec.7, <24 x float> poison, <8 x i32> <i32 0, i32 3, i32 6, i32 9, i32 12, i32 15, i32 18, i32 21>
  %strided.vec81.7 = shufflevector <24 x float> %wide.vec.7, <24 x float> poison, <8 x i32> <i32 1, i32 4, i32 7, i32 10, i32 13, i32 16, i32 19, i32 22>
  %strided.vec82.7 = shufflevector <24 x float> %wide.vec.7, <24 x float> poison, <8 x i32> <i32 2, i32 5, i32 8, i32 11, i32 14, i32 17, i32 20, i32 23>
  %281 = add i32 %lsr.iv380, 74
  %282 = sext i32 %281 to i64
  %wide.load83.7 = load <8 x float>, <8 x float>* %scevgep423424, align 4, !alias.scope !17, !noalias !19
  %283 = fmul reassoc ninf nsz <8 x float> %strided.vec.7, %broadcast.splat85.7
  %284 = fmul reassoc ninf nsz <8 x float> %strided.vec81.7, %broadcast.splat87.7
  %285 = fadd reassoc ninf nsz <8 x float> %284, %283
  %286 = fmul reassoc ninf nsz <8 x float> %strided.vec82.7, %broadcast.splat89.7
  %287 = fadd reassoc ninf nsz <8 x float> %285, %286
  %288 = fadd reassoc ninf nsz <8 x float> %287, %wide.load83.7
  store <8 x float> %288, <8 x float>* %scevgep423424, align 4, !alias.scope !17, !noalias !19
  %289 = getelementptr float, float* %9, i64 %278
  %290 = bitcast float* %289 to <24 x float>*
  %wide.vec90.7 = load <24 x float>, <24 x float>* %290, align 4
  %strided.vec91.7 = shufflevector <24 x float> %wide.vec90.7, <24 x float> poison, <8 x i32> <i32 0, i32 3, i32 6, i32 9, i32 12, i32 15, i32 18, i32 21>
  %strided.vec92.7 = shufflevector <24 x float> %wide.vec90.7, <24 x float> poison, <8 x i32> <i32 1, i32 4, i32 7, i32 10, i32 13, i32 16, i32 19, i32 22>
  %strided.vec93.7 = shufflevector <24 x float> %wide.vec90.7, <24 x float> poison, <8 x i32> <i32 2, i32 5, i32 8, i32 11, i32 14, i32 17, i32 20, i32 23>
  %wide.load94.7 = load <8 x float>, <8 x float>* %scevgep450451, align 4, !alias.scope !22, !noalias !15
  %291 = fmul reassoc ninf nsz <8 x float> %wide.load94.7, %broadcast.splat85.7
  %292 = fmul reassoc ninf nsz <8 x float> %wide.load94.7, %broadcast.splat87.7
  %293 = fmul reassoc ninf nsz <8 x float> %wide.load94.7, %broadcast.splat89.7
  %294 = fadd reassoc ninf nsz <8 x float> %291, %strided.vec91.7
  %295 = fadd reassoc ninf nsz <8 x float> %292, %strided.vec92.7
  %296 = fadd reassoc ninf nsz <8 x float> %293, %strided.vec93.7
  %297 = getelementptr float, float* %94, i64 %282
  %298 = bitcast float* %297 to <24 x float>*
  %299 = shufflevector <8 x float> %294, <8 x float> %295, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %300 = shufflevector <8 x float> %296, <8 x float> poison, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>
  %interleaved.vec.7 = shufflevector <16 x float> %299, <16 x float> %300, <24 x i32> <i32 0, i32 8, i32 16, i32 1, i32 9, i32 17, i32 2, i32 10, i32 18, i32 3, i32 11, i32 19, i32 4, i32 12, i32 20, i32 5, i32 13, i32 21, i32 6, i32 14, i32 22, i32 7, i32 15, i32 23>
  store <24 x float> %interleaved.vec.7, <24 x float>* %298, align 4
  %index.next95.7 = add i64 %index80, 64
  %lsr.iv.next381 = add i32 %lsr.iv380, 192
  %lsr.iv.next454 = add i64 %lsr.iv453, -8
  %niter192.ncmp.7 = icmp eq i64 %lsr.iv.next454, 0
  br i1 %niter192.ncmp.7, label %middle.block71.unr-lcssa.loopexit, label %vector.body79, !llvm.loop !23

middle.block71.unr-lcssa.loopexit:                ; preds = %vector.body79
  br label %middle.block71.unr-lcssa

middle.block71.unr-lcssa:                         ; preds = %middle.block71.unr-lcssa.loopexit, %vector.ph74
  %index80.unr = phi i64 [ 0, %vector.ph74 ], [ %index.next95.7, %middle.block71.unr-lcssa.loopexit ]
  %lcmp.mod190.not = icmp eq i64 %xtraiter188, 0
  br i1 %lcmp.mod190.not, label %middle.block71, label %vector.body79.epil.preheader

vector.body79.epil.preheader:                     ; preds = %middle.block71.unr-lcssa
  %301 = getelementptr float, float* %9, i64 -2
  %scevgep366 = getelementptr float, float* %7, i64 %index80.unr
  %scevgep366369 = bitcast float* %scevgep366 to i8*
  %scevgep372 = getelementptr float, float* %12, i64 %index80.unr
  %scevgep372373 = bitcast float* %scevgep372 to i8*
  %302 = trunc i64 %index80.unr to i32
  %303 = mul i32 %302, 3
  %304 = shl nuw nsw i64 %xtraiter188, 5
  br label %vector.body79.epil

vector.body79.epil:                               ; preds = %vector.body79.epil, %vector.body79.epil.preheader
  %lsr.iv378 = phi i32 [ %lsr.iv.next379, %vector.body79.epil ], [ %303, %vector.body79.epil.preheader ]
  %lsr.iv367 = phi i64 [ %lsr.iv.next368, %vector.body79.epil ], [ 0, %vector.body79.epil.preheader ]
  %305 = load float, float* %16, align 4, !alias.scope !12, !noalias !15
  %broadcast.splatinsert84.epil = insertelement <8 x float> poison, float %305, i64 0
  %broadcast.splat85.epil = shufflevector <8 x float> %broadcast.splatinsert84.epil, <8 x float> poison, <8 x i32> zeroinitializer
  %306 = load float, float* %64, align 4, !alias.scope !12, !noalias !15
  %broadcast.splatinsert86.epil = insertelement <8 x float> poison, float %306, i64 0
  %broadcast.splat87.epil = shufflevector <8 x float> %broadcast.splatinsert86.epil, <8 x float> poison, <8 x i32> zeroinitializer
  %307 = load float, float* %65, align 4, !alias.scope !12, !noalias !15
  %broadcast.splatinsert88.epil = insertelement <8 x float> poison, float %307, i64 0
  %broadcast.splat89.epil = shufflevector <8 x float> %broadcast.splatinsert88.epil, <8 x float> poison, <8 x i32> zeroinitializer
  %308 = sext i32 %lsr.iv378 to i64
  %309 = getelementptr float, float* %5, i64 %308
  %310 = bitcast float* %309 to <24 x float>*
  %wide.vec.epil = load <24 x float>, <24 x float>* %310, align 4
  %strided.vec.epil = shufflevector <24 x float> %wide.vec.epil, <24 x float> poison, <8 x i32> <i32 0, i32 3, i32 6, i32 9, i32 12, i32 15, i32 18, i32 21>
  %strided.vec81.epil = shufflevector <24 x float> %wide.vec.epil, <24 x float> poison, <8 x i32> <i32 1, i32 4, i32 7, i32 10, i32 13, i32 16, i32 19, i32 22>
  %strided.vec82.epil = shufflevector <24 x float> %wide.vec.epil, <24 x float> poison, <8 x i32> <i32 2, i32 5, i32 8, i32 11, i32 14, i32 17, i32 20, i32 23>
  %311 = or i32 %lsr.iv378, 2
  %312 = sext i32 %311 to i64
  %uglygep376 = getelementptr i8, i8* %scevgep372373, i64 %lsr.iv367
  %uglygep376377 = bitcast i8* %uglygep376 to <8 x float>*
  %wide.load83.epil = load <8 x float>, <8 x float>* %uglygep376377, align 4, !alias.scope !17, !noalias !19
  %313 = fmul reassoc ninf nsz <8 x float> %strided.vec.epil, %broadcast.splat85.epil
  %314 = fmul reassoc ninf nsz <8 x float> %strided.vec81.epil, %broadcast.splat87.epil
  %315 = fadd reassoc ninf nsz <8 x float> %314, %313
  %316 = fmul reassoc ninf nsz <8 x float> %strided.vec82.epil, %broadcast.splat89.epil
  %317 = fadd reassoc ninf nsz <8 x float> %315, %316
  %318 = fadd reassoc ninf nsz <8 x float> %317, %wide.load83.epil
  store <8 x float> %318, <8 x float>* %uglygep376377, align 4, !alias.scope !17, !noalias !19
  %319 = getelementptr float, float* %9, i64 %308
  %320 = bitcast float* %319 to <24 x float>*
  %wide.vec90.epil = load <24 x float>, <24 x float>* %320, align 4
  %strided.vec91.epil = shufflevector <24 x float> %wide.vec90.epil, <24 x float> poison, <8 x i32> <i32 0, i32 3, i32 6, i32 9, i32 12, i32 15, i32 18, i32 21>
  %strided.vec92.epil = shufflevector <24 x float> %wide.vec90.epil, <24 x float> poison, <8 x i32> <i32 1, i32 4, i32 7, i32 10, i32 13, i32 16, i32 19, i32 22>
  %strided.vec93.epil = shufflevector <24 x float> %wide.vec90.epil, <24 x float> poison, <8 x i32> <i32 2, i32 5, i32 8, i32 11, i32 14, i32 17, i32 20, i32 23>
  %uglygep370 = getelementptr i8, i8* %scevgep366369, i64 %lsr.iv367
  %uglygep370371 = bitcast i8* %uglygep370 to <8 x float>*
  %wide.load94.epil = load <8 x float>, <8 x float>* %uglygep370371, align 4, !alias.scope !22, !noalias !15
  %321 = fmul reassoc ninf nsz <8 x float> %wide.load94.epil, %broadcast.splat85.epil
  %322 = fmul reassoc ninf nsz <8 x float> %wide.load94.epil, %broadcast.splat87.epil
  %323 = fmul reassoc ninf nsz <8 x float> %wide.load94.epil, %broadcast.splat89.epil
  %324 = fadd reassoc ninf nsz <8 x float> %321, %strided.vec91.epil
  %325 = fadd reassoc ninf nsz <8 x float> %322, %strided.vec92.epil
  %326 = fadd reassoc ninf nsz <8 x float> %323, %strided.vec93.epil
  %327 = getelementptr float, float* %301, i64 %312
  %328 = bitcast float* %327 to <24 x float>*
  %329 = shufflevector <8 x float> %324, <8 x float> %325, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %330 = shufflevector <8 x float> %326, <8 x float> poison, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>
  %interleaved.vec.epil = shufflevector <16 x float> %329, <16 x float> %330, <24 x i32> <i32 0, i32 8, i32 16, i32 1, i32 9, i32 17, i32 2, i32 10, i32 18, i32 3, i32 11, i32 19, i32 4, i32 12, i32 20, i32 5, i32 13, i32 21, i32 6, i32 14, i32 22, i32 7, i32 15, i32 23>
  store <24 x float> %interleaved.vec.epil, <24 x float>* %328, align 4
  %lsr.iv.next368 = add nuw nsw i64 %lsr.iv367, 32
  %lsr.iv.next379 = add i32 %lsr.iv378, 24
  %epil.iter189.cmp.not = icmp eq i64 %304, %lsr.iv.next368
  br i1 %epil.iter189.cmp.not, label %middle.block71.loopexit, label %vector.body79.epil, !llvm.loop !24

middle.block71.loopexit:                          ; preds = %vector.body79.epil
  br label %middle.block71

middle.block71:                                   ; preds = %middle.block71.loopexit, %middle.block71.unr-lcssa
  %cmp.n78 = icmp eq i64 %n.vec76, %wide.trip.count53.i
  br i1 %cmp.n78, label %for_loop_body5.i.preheader, label %for_loop_body1.i.preheader182

for_loop_body1.i.preheader182:                    ; preds = %vector.memcheck, %vector.scevcheck, %for_loop_body1.i.preheader, %middle.block71
  %indvars.iv45.i.ph = phi i64 [ 0, %vector.memcheck ], [ 0, %vector.scevcheck ], [ 0, %for_loop_body1.i.preheader ], [ %n.vec76, %middle.block71 ]
  %331 = xor i64 %indvars.iv45.i.ph, -1
  %332 = add nsw i64 %331, %wide.trip.count53.i
  %xtraiter185 = and i64 %wide.trip.count53.i, 7
  %lcmp.mod186.not = icmp eq i64 %xtraiter185, 0
  br i1 %lcmp.mod186.not, label %for_loop_body1.i.prol.loopexit, label %for_loop_body1.i.prol.preheader

for_loop_body1.i.prol.preheader:                  ; preds = %for_loop_body1.i.preheader182
  %scevgep360 = getelementptr float, float* %7, i64 %indvars.iv45.i.ph
  %scevgep362 = getelementptr float, float* %12, i64 %indvars.iv45.i.ph
  %333 = trunc i64 %indvars.iv45.i.ph to i32
  %334 = mul i32 %333, 3
  br label %for_loop_body1.i.prol

for_loop_body1.i.prol:                            ; preds = %for_loop_body1.i.prol.preheader, %for_loop_body1.i.prol
  %lsr.iv364 = phi i32 [ %334, %for_loop_body1.i.prol.preheader ], [ %lsr.iv.next365, %for_loop_body1.i.prol ]
  %prol.iter187 = phi i64 [ %prol.iter187.next, %for_loop_body1.i.prol ], [ 0, %for_loop_body1.i.prol.preheader ]
  %335 = load float, float* %16, align 4
  %336 = load float, float* %64, align 4
  %337 = load float, float* %65, align 4
  %338 = sext i32 %lsr.iv364 to i64
  %339 = getelementptr float, float* %5, i64 %338
  %340 = load float, float* %339, align 4
  %341 = add i32 %lsr.iv364, 1
  %342 = sext i32 %341 to i64
  %343 = getelementptr float, float* %5, i64 %342
  %344 = load float, float* %343, align 4
  %345 = add i32 %lsr.iv364, 2
  %346 = sext i32 %345 to i64
  %347 = getelementptr float, float* %5, i64 %346
  %348 = load float, float* %347, align 4
  %scevgep363 = getelementptr float, float* %scevgep362, i64 %prol.iter187
  %349 = load float, float* %scevgep363, align 4
  %350 = fmul reassoc ninf nsz float %340, %335
  %351 = fmul reassoc ninf nsz float %344, %336
  %352 = fadd reassoc ninf nsz float %351, %350
  %353 = fmul reassoc ninf nsz float %348, %337
  %354 = fadd reassoc ninf nsz float %352, %353
  %355 = fadd reassoc ninf nsz float %354, %349
  store float %355, float* %scevgep363, align 4
  %356 = getelementptr float, float* %9, i64 %338
  %357 = load float, float* %356, align 4
  %358 = getelementptr float, float* %9, i64 %342
  %359 = load float, float* %358, align 4
  %360 = getelementptr float, float* %9, i64 %346
  %361 = load float, float* %360, align 4
  %scevgep361 = getelementptr float, float* %scevgep360, i64 %prol.iter187
  %362 = load float, float* %scevgep361, align 4
  %363 = fmul reassoc ninf nsz float %362, %335
  %364 = fmul reassoc ninf nsz float %362, %336
  %365 = fmul reassoc ninf nsz float %362, %337
  %366 = fadd reassoc ninf nsz float %363, %357
  %367 = fadd reassoc ninf nsz float %364, %359
  %368 = fadd reassoc ninf nsz float %365, %361
  store float %366, float* %356, align 4
  store float %367, float* %358, align 4
  store float %368, float* %360, align 4
  %prol.iter187.next = add nuw nsw i64 %prol.iter187, 1
  %lsr.iv.next365 = add i32 %lsr.iv364, 3
  %prol.iter187.cmp.not = icmp eq i64 %xtraiter185, %prol.iter187.next
  br i1 %prol.iter187.cmp.not, label %for_loop_body1.i.prol.loopexit.loopexit, label %for_loop_body1.i.prol, !llvm.loop !25

for_loop_body1.i.prol.loopexit.loopexit:          ; preds = %for_loop_body1.i.prol
  %369 = add i64 %indvars.iv45.i.ph, %prol.iter187.next
  br label %for_loop_body1.i.prol.loopexit

for_loop_body1.i.prol.loopexit:                   ; preds = %for_loop_body1.i.prol.loopexit.loopexit, %for_loop_body1.i.preheader182
  %indvars.iv45.i.unr = phi i64 [ %indvars.iv45.i.ph, %for_loop_body1.i.preheader182 ], [ %369, %for_loop_body1.i.prol.loopexit.loopexit ]
  %370 = icmp ult i64 %332, 7
  br i1 %370, label %for_loop_body5.i.preheader, label %for_loop_body1.i.preheader199

for_loop_body1.i.preheader199:                    ; preds = %for_loop_body1.i.prol.loopexit
  %scevgep326 = getelementptr float, float* %7, i64 7
  %scevgep342 = getelementptr float, float* %12, i64 7
  %371 = trunc i64 %indvars.iv45.i.unr to i32
  %372 = mul i32 %371, 3
  %373 = add i32 %372, 23
  br label %for_loop_body1.i

for_loop_body1.i:                                 ; preds = %for_loop_body1.i.preheader199, %for_loop_body1.i
  %lsr.iv358 = phi i32 [ %373, %for_loop_body1.i.preheader199 ], [ %lsr.iv.next359, %for_loop_body1.i ]
  %indvars.iv45.i = phi i64 [ %indvars.iv.next46.i.7, %for_loop_body1.i ], [ %indvars.iv45.i.unr, %for_loop_body1.i.preheader199 ]
  %374 = load float, float* %16, align 4
  %375 = load float, float* %64, align 4
  %376 = load float, float* %65, align 4
  %377 = add i32 %lsr.iv358, -23
  %378 = sext i32 %377 to i64
  %379 = getelementptr float, float* %5, i64 %378
  %380 = load float, float* %379, align 4
  %381 = add i32 %lsr.iv358, -22
  %382 = sext i32 %381 to i64
  %383 = getelementptr float, float* %5, i64 %382
  %384 = load float, float* %383, align 4
  %385 = add i32 %lsr.iv358, -21
  %386 = sext i32 %385 to i64
  %387 = getelementptr float, float* %5, i64 %386
  %388 = load float, float* %387, align 4
  %scevgep356 = getelementptr float, float* %scevgep342, i64 %indvars.iv45.i
  %scevgep357 = getelementptr float, float* %scevgep356, i64 -7
  %389 = load float, float* %scevgep357, align 4
  %390 = fmul reassoc ninf nsz float %380, %374
  %391 = fmul reassoc ninf nsz float %384, %375
  %392 = fadd reassoc ninf nsz float %391, %390
  %393 = fmul reassoc ninf nsz float %388, %376
  %394 = fadd reassoc ninf nsz float %392, %393
  %395 = fadd reassoc ninf nsz float %394, %389
  store float %395, float* %scevgep357, align 4
  %396 = getelementptr float, float* %9, i64 %378
  %397 = load float, float* %396, align 4
  %398 = getelementptr float, float* %9, i64 %382
  %399 = load float, float* %398, align 4
  %400 = getelementptr float, float* %9, i64 %386
  %401 = load float, float* %400, align 4
  %scevgep340 = getelementptr float, float* %scevgep326, i64 %indvars.iv45.i
  %scevgep341 = getelementptr float, float* %scevgep340, i64 -7
  %402 = load float, float* %scevgep341, align 4
  %403 = fmul reassoc ninf nsz float %402, %374
  %404 = fmul reassoc ninf nsz float %402, %375
  %405 = fmul reassoc ninf nsz float %402, %376
  %406 = fadd reassoc ninf nsz float %403, %397
  %407 = fadd reassoc ninf nsz float %404, %399
  %408 = fadd reassoc ninf nsz float %405, %401
  store float %406, float* %396, align 4
  store float %407, float* %398, align 4
  store float %408, float* %400, align 4
  %409 = load float, float* %16, align 4
  %410 = load float, float* %64, align 4
  %411 = load float, float* %65, align 4
  %412 = add i32 %lsr.iv358, -20
  %413 = sext i32 %412 to i64
  %414 = getelementptr float, float* %5, i64 %413
  %415 = load float, float* %414, align 4
  %416 = add i32 %lsr.iv358, -19
  %417 = sext i32 %416 to i64
  %418 = getelementptr float, float* %5, i64 %417
  %419 = load float, float* %418, align 4
  %420 = add i32 %lsr.iv358, -18
  %421 = sext i32 %420 to i64
  %422 = getelementptr float, float* %5, i64 %421
  %423 = load float, float* %422, align 4
  %scevgep355 = getelementptr float, float* %scevgep356, i64 -6
  %424 = load float, float* %scevgep355, align 4
  %425 = fmul reassoc ninf nsz float %415, %409
  %426 = fmul reassoc ninf nsz float %419, %410
  %427 = fadd reassoc ninf nsz float %426, %425
  %428 = fmul reassoc ninf nsz float %423, %411
  %429 = fadd reassoc ninf nsz float %427, %428
  %430 = fadd reassoc ninf nsz float %429, %424
  store float %430, float* %scevgep355, align 4
  %431 = getelementptr float, float* %9, i64 %413
  %432 = load float, float* %431, align 4
  %433 = getelementptr float, float* %9, i64 %417
  %434 = load float, float* %433, align 4
  %435 = getelementptr float, float* %9, i64 %421
  %436 = load float, float* %435, align 4
  %scevgep339 = getelementptr float, float* %scevgep340, i64 -6
  %437 = load float, float* %scevgep339, align 4
  %438 = fmul reassoc ninf nsz float %437, %409
  %439 = fmul reassoc ninf nsz float %437, %410
  %440 = fmul reassoc ninf nsz float %437, %411
  %441 = fadd reassoc ninf nsz float %438, %432
  %442 = fadd reassoc ninf nsz float %439, %434
  %443 = fadd reassoc ninf nsz float %440, %436
  store float %441, float* %431, align 4
  store float %442, float* %433, align 4
  store float %443, float* %435, align 4
  %444 = load float, float* %16, align 4
  %445 = load float, float* %64, align 4
  %446 = load float, float* %65, align 4
  %447 = add i32 %lsr.iv358, -17
  %448 = sext i32 %447 to i64
  %449 = getelementptr float, float* %5, i64 %448
  %450 = load float, float* %449, align 4
  %451 = add i32 %lsr.iv358, -16
  %452 = sext i32 %451 to i64
  %453 = getelementptr float, float* %5, i64 %452
  %454 = load float, float* %453, align 4
  %455 = add i32 %lsr.iv358, -15
  %456 = sext i32 %455 to i64
  %457 = getelementptr float, float* %5, i64 %456
  %458 = load float, float* %457, align 4
  %scevgep353 = getelementptr float, float* %scevgep356, i64 -5
  %459 = load float, float* %scevgep353, align 4
  %460 = fmul reassoc ninf nsz float %450, %444
  %461 = fmul reassoc ninf nsz float %454, %445
  %462 = fadd reassoc ninf nsz float %461, %460
  %463 = fmul reassoc ninf nsz float %458, %446
  %464 = fadd reassoc ninf nsz float %462, %463
  %465 = fadd reassoc ninf nsz float %464, %459
  store float %465, float* %scevgep353, align 4
  %466 = getelementptr float, float* %9, i64 %448
  %467 = load float, float* %466, align 4
  %468 = getelementptr float, float* %9, i64 %452
  %469 = load float, float* %468, align 4
  %470 = getelementptr float, float* %9, i64 %456
  %471 = load float, float* %470, align 4
  %scevgep337 = getelementptr float, float* %scevgep340, i64 -5
  %472 = load float, float* %scevgep337, align 4
  %473 = fmul reassoc ninf nsz float %472, %444
  %474 = fmul reassoc ninf nsz float %472, %445
  %475 = fmul reassoc ninf nsz float %472, %446
  %476 = fadd reassoc ninf nsz float %473, %467
  %477 = fadd reassoc ninf nsz float %474, %469
  %478 = fadd reassoc ninf nsz float %475, %471
  store float %476, float* %466, align 4
  store float %477, float* %468, align 4
  store float %478, float* %470, align 4
  %479 = load float, float* %16, align 4
  %480 = load float, float* %64, align 4
  %481 = load float, float* %65, align 4
  %482 = add i32 %lsr.iv358, -14
  %483 = sext i32 %482 to i64
  %484 = getelementptr float, float* %5, i64 %483
  %485 = load float, float* %484, align 4
  %486 = add i32 %lsr.iv358, -13
  %487 = sext i32 %486 to i64
  %488 = getelementptr float, float* %5, i64 %487
  %489 = load float, float* %488, align 4
  %490 = add i32 %lsr.iv358, -12
  %491 = sext i32 %490 to i64
  %492 = getelementptr float, float* %5, i64 %491
  %493 = load float, float* %492, align 4
  %scevgep351 = getelementptr float, float* %scevgep356, i64 -4
  %494 = load float, float* %scevgep351, align 4
  %495 = fmul reassoc ninf nsz float %485, %479
  %496 = fmul reassoc ninf nsz float %489, %480
  %497 = fadd reassoc ninf nsz float %496, %495
  %498 = fmul reassoc ninf nsz float %493, %481
  %499 = fadd reassoc ninf nsz float %497, %498
  %500 = fadd reassoc ninf nsz float %499, %494
  store float %500, float* %scevgep351, align 4
  %501 = getelementptr float, float* %9, i64 %483
  %502 = load float, float* %501, align 4
  %503 = getelementptr float, float* %9, i64 %487
  %504 = load float, float* %503, align 4
  %505 = getelementptr float, float* %9, i64 %491
  %506 = load float, float* %505, align 4
  %scevgep335 = getelementptr float, float* %scevgep340, i64 -4
  %507 = load float, float* %scevgep335, align 4
  %508 = fmul reassoc ninf nsz float %507, %479
  %509 = fmul reassoc ninf nsz float %507, %480
  %510 = fmul reassoc ninf nsz float %507, %481
  %511 = fadd reassoc ninf nsz float %508, %502
  %512 = fadd reassoc ninf nsz float %509, %504
  %513 = fadd reassoc ninf nsz float %510, %506
  store float %511, float* %501, align 4
  store float %512, float* %503, align 4
  store float %513, float* %505, align 4
  %514 = load float, float* %16, align 4
  %515 = load float, float* %64, align 4
  %516 = load float, float* %65, align 4
  %517 = add i32 %lsr.iv358, -11
  %518 = sext i32 %517 to i64
  %519 = getelementptr float, float* %5, i64 %518
  %520 = load float, float* %519, align 4
  %521 = add i32 %lsr.iv358, -10
  %522 = sext i32 %521 to i64
  %523 = getelementptr float, float* %5, i64 %522
  %524 = load float, float* %523, align 4
  %525 = add i32 %lsr.iv358, -9
  %526 = sext i32 %525 to i64
  %527 = getelementptr float, float* %5, i64 %526
  %528 = load float, float* %527, align 4
  %scevgep349 = getelementptr float, float* %scevgep356, i64 -3
  %529 = load float, float* %scevgep349, align 4
  %530 = fmul reassoc ninf nsz float %520, %514
  %531 = fmul reassoc ninf nsz float %524, %515
  %532 = fadd reassoc ninf nsz float %531, %530
  %533 = fmul reassoc ninf nsz float %528, %516
  %534 = fadd reassoc ninf nsz float %532, %533
  %535 = fadd reassoc ninf nsz float %534, %529
  store float %535, float* %scevgep349, align 4
  %536 = getelementptr float, float* %9, i64 %518
  %537 = load float, float* %536, align 4
  %538 = getelementptr float, float* %9, i64 %522
  %539 = load float, float* %538, align 4
  %540 = getelementptr float, float* %9, i64 %526
  %541 = load float, float* %540, align 4
  %scevgep333 = getelementptr float, float* %scevgep340, i64 -3
  %542 = load float, float* %scevgep333, align 4
  %543 = fmul reassoc ninf nsz float %542, %514
  %544 = fmul reassoc ninf nsz float %542, %515
  %545 = fmul reassoc ninf nsz float %542, %516
  %546 = fadd reassoc ninf nsz float %543, %537
  %547 = fadd reassoc ninf nsz float %544, %539
  %548 = fadd reassoc ninf nsz float %545, %541
  store float %546, float* %536, align 4
  store float %547, float* %538, align 4
  store float %548, float* %540, align 4
  %549 = load float, float* %16, align 4
  %550 = load float, float* %64, align 4
  %551 = load float, float* %65, align 4
  %552 = add i32 %lsr.iv358, -8
  %553 = sext i32 %552 to i64
  %554 = getelementptr float, float* %5, i64 %553
  %555 = load float, float* %554, align 4
  %556 = add i32 %lsr.iv358, -7
  %557 = sext i32 %556 to i64
  %558 = getelementptr float, float* %5, i64 %557
  %559 = load float, float* %558, align 4
  %560 = add i32 %lsr.iv358, -6
  %561 = sext i32 %560 to i64
  %562 = getelementptr float, float* %5, i64 %561
  %563 = load float, float* %562, align 4
  %scevgep347 = getelementptr float, float* %scevgep356, i64 -2
  %564 = load float, float* %scevgep347, align 4
  %565 = fmul reassoc ninf nsz float %555, %549
  %566 = fmul reassoc ninf nsz float %559, %550
  %567 = fadd reassoc ninf nsz float %566, %565
  %568 = fmul reassoc ninf nsz float %563, %551
  %569 = fadd reassoc ninf nsz float %567, %568
  %570 = fadd reassoc ninf nsz float %569, %564
  store float %570, float* %scevgep347, align 4
  %571 = getelementptr float, float* %9, i64 %553
  %572 = load float, float* %571, align 4
  %573 = getelementptr float, float* %9, i64 %557
  %574 = load float, float* %573, align 4
  %575 = getelementptr float, float* %9, i64 %561
  %576 = load float, float* %575, align 4
  %scevgep331 = getelementptr float, float* %scevgep340, i64 -2
  %577 = load float, float* %scevgep331, align 4
  %578 = fmul reassoc ninf nsz float %577, %549
  %579 = fmul reassoc ninf nsz float %577, %550
  %580 = fmul reassoc ninf nsz float %577, %551
  %581 = fadd reassoc ninf nsz float %578, %572
  %582 = fadd reassoc ninf nsz float %579, %574
  %583 = fadd reassoc ninf nsz float %580, %576
  store float %581, float* %571, align 4
  store float %582, float* %573, align 4
  store float %583, float* %575, align 4
  %584 = load float, float* %16, align 4
  %585 = load float, float* %64, align 4
  %586 = load float, float* %65, align 4
  %587 = add i32 %lsr.iv358, -5
  %588 = sext i32 %587 to i64
  %589 = getelementptr float, float* %5, i64 %588
  %590 = load float, float* %589, align 4
  %591 = add i32 %lsr.iv358, -4
  %592 = sext i32 %591 to i64
  %593 = getelementptr float, float* %5, i64 %592
  %594 = load float, float* %593, align 4
  %595 = add i32 %lsr.iv358, -3
  %596 = sext i32 %595 to i64
  %597 = getelementptr float, float* %5, i64 %596
  %598 = load float, float* %597, align 4
  %scevgep345 = getelementptr float, float* %scevgep356, i64 -1
  %599 = load float, float* %scevgep345, align 4
  %600 = fmul reassoc ninf nsz float %590, %584
  %601 = fmul reassoc ninf nsz float %594, %585
  %602 = fadd reassoc ninf nsz float %601, %600
  %603 = fmul reassoc ninf nsz float %598, %586
  %604 = fadd reassoc ninf nsz float %602, %603
  %605 = fadd reassoc ninf nsz float %604, %599
  store float %605, float* %scevgep345, align 4
  %606 = getelementptr float, float* %9, i64 %588
  %607 = load float, float* %606, align 4
  %608 = getelementptr float, float* %9, i64 %592
  %609 = load float, float* %608, align 4
  %610 = getelementptr float, float* %9, i64 %596
  %611 = load float, float* %610, align 4
  %scevgep329 = getelementptr float, float* %scevgep340, i64 -1
  %612 = load float, float* %scevgep329, align 4
  %613 = fmul reassoc ninf nsz float %612, %584
  %614 = fmul reassoc ninf nsz float %612, %585
  %615 = fmul reassoc ninf nsz float %612, %586
  %616 = fadd reassoc ninf nsz float %613, %607
  %617 = fadd reassoc ninf nsz float %614, %609
  %618 = fadd reassoc ninf nsz float %615, %611
  store float %616, float* %606, align 4
  store float %617, float* %608, align 4
  store float %618, float* %610, align 4
  %619 = load float, float* %16, align 4
  %620 = load float, float* %64, align 4
  %621 = load float, float* %65, align 4
  %622 = add i32 %lsr.iv358, -2
  %623 = sext i32 %622 to i64
  %624 = getelementptr float, float* %5, i64 %623
  %625 = load float, float* %624, align 4
  %626 = add i32 %lsr.iv358, -1
  %627 = sext i32 %626 to i64
  %628 = getelementptr float, float* %5, i64 %627
  %629 = load float, float* %628, align 4
  %630 = sext i32 %lsr.iv358 to i64
  %631 = getelementptr float, float* %5, i64 %630
  %632 = load float, float* %631, align 4
  %633 = load float, float* %scevgep356, align 4
  %634 = fmul reassoc ninf nsz float %625, %619
  %635 = fmul reassoc ninf nsz float %629, %620
  %636 = fadd reassoc ninf nsz float %635, %634
  %637 = fmul reassoc ninf nsz float %632, %621
  %638 = fadd reassoc ninf nsz float %636, %637
  %639 = fadd reassoc ninf nsz float %638, %633
  store float %639, float* %scevgep356, align 4
  %640 = getelementptr float, float* %9, i64 %623
  %641 = load float, float* %640, align 4
  %642 = getelementptr float, float* %9, i64 %627
  %643 = load float, float* %642, align 4
  %644 = getelementptr float, float* %9, i64 %630
  %645 = load float, float* %644, align 4
  %646 = load float, float* %scevgep340, align 4
  %647 = fmul reassoc ninf nsz float %646, %619
  %648 = fmul reassoc ninf nsz float %646, %620
  %649 = fmul reassoc ninf nsz float %646, %621
  %650 = fadd reassoc ninf nsz float %647, %641
  %651 = fadd reassoc ninf nsz float %648, %643
  %652 = fadd reassoc ninf nsz float %649, %645
  store float %650, float* %640, align 4
  store float %651, float* %642, align 4
  store float %652, float* %644, align 4
  %indvars.iv.next46.i.7 = add nuw nsw i64 %indvars.iv45.i, 8
  %lsr.iv.next359 = add i32 %lsr.iv358, 24
  %exitcond49.not.i.7 = icmp eq i64 %wide.trip.count53.i, %indvars.iv.next46.i.7
  br i1 %exitcond49.not.i.7, label %for_loop_body5.i.preheader.loopexit, label %for_loop_body1.i, !llvm.loop !26

for_loop_body5.i.preheader.loopexit:              ; preds = %for_loop_body1.i
  br label %for_loop_body5.i.preheader

for_loop_body5.i.preheader:                       ; preds = %for_loop_body5.i.preheader.loopexit, %for_loop_body1.i.prol.loopexit, %middle.block71
  br i1 %min.iters.check73, label %for_loop_body5.i.preheader181, label %vector.scevcheck96

vector.scevcheck96:                               ; preds = %for_loop_body5.i.preheader
  %653 = add nsw i64 %wide.trip.count53.i, -1
  %654 = trunc i64 %653 to i32
  %mul97 = call { i32, i1 } @llvm.umul.with.overflow.i32(i32 %654, i32 3)
  %mul.result98 = extractvalue { i32, i1 } %mul97, 0
  %mul.overflow99 = extractvalue { i32, i1 } %mul97, 1
  %655 = icmp slt i32 %mul.result98, 0
  %656 = or i1 %655, %mul.overflow99
  %657 = icmp ugt i32 %mul.result98, 2147483646
  %658 = or i1 %657, %mul.overflow99
  %659 = icmp ugt i64 %653, 4294967295
  %660 = or i1 %658, %659
  %661 = icmp ugt i32 %mul.result98, 2147483645
  %662 = or i1 %661, %mul.overflow99
  %scevgep106 = getelementptr float, float* %9, i64 2
  %mul107 = call { i64, i1 } @llvm.umul.with.overflow.i64(i64 %653, i64 12)
  %mul.result108 = extractvalue { i64, i1 } %mul107, 0
  %mul.overflow109 = extractvalue { i64, i1 } %mul107, 1
  %scevgep106110 = bitcast float* %scevgep106 to i8*
  %663 = getelementptr i8, i8* %scevgep106110, i64 %mul.result108
  %664 = icmp ult i8* %663, %scevgep106110
  %665 = or i1 %664, %mul.overflow109
  %scevgep111 = getelementptr float, float* %9, i64 1
  %scevgep111115 = bitcast float* %scevgep111 to i8*
  %666 = getelementptr i8, i8* %scevgep111115, i64 %mul.result108
  %667 = icmp ult i8* %666, %scevgep111115
  %668 = or i1 %667, %mul.overflow109
  %669 = getelementptr i8, i8* %10, i64 %mul.result108
  %670 = icmp ult i8* %669, %10
  %671 = or i1 %670, %mul.overflow109
  %672 = or i1 %662, %660
  %673 = or i1 %672, %665
  %674 = or i1 %673, %668
  %675 = or i1 %674, %671
  br i1 %675, label %for_loop_body5.i.preheader181, label %vector.memcheck119

vector.memcheck119:                               ; preds = %vector.scevcheck96
  %scevgep120 = getelementptr float, float* %12, i64 %wide.trip.count53.i
  %scevgep122 = getelementptr float, float* %14, i64 1
  %scevgep124 = getelementptr float, float* %7, i64 %wide.trip.count53.i
  %676 = mul nuw nsw i64 %wide.trip.count53.i, 3
  %scevgep126 = getelementptr float, float* %9, i64 %676
  %scevgep128 = getelementptr float, float* %5, i64 %676
  %bound0130 = icmp ult float* %12, %scevgep122
  %bound1131 = icmp ult float* %14, %scevgep120
  %found.conflict132 = and i1 %bound0130, %bound1131
  %bound0133 = icmp ult float* %12, %scevgep124
  %bound1134 = icmp ult float* %7, %scevgep120
  %found.conflict135 = and i1 %bound0133, %bound1134
  %conflict.rdx136 = or i1 %found.conflict132, %found.conflict135
  %bound0137 = icmp ult float* %12, %scevgep126
  %bound1138 = icmp ult float* %9, %scevgep120
  %found.conflict139 = and i1 %bound0137, %bound1138
  %conflict.rdx140 = or i1 %conflict.rdx136, %found.conflict139
  %bound0141 = icmp ult float* %12, %scevgep128
  %bound1142 = icmp ult float* %5, %scevgep120
  %found.conflict143 = and i1 %bound0141, %bound1142
  %conflict.rdx144 = or i1 %conflict.rdx140, %found.conflict143
  %bound0145 = icmp ult float* %14, %scevgep126
  %bound1146 = icmp ult float* %9, %scevgep122
  %found.conflict147 = and i1 %bound0145, %bound1146
  %conflict.rdx148 = or i1 %conflict.rdx144, %found.conflict147
  %bound0149 = icmp ult float* %7, %scevgep126
  %bound1150 = icmp ult float* %9, %scevgep124
  %found.conflict151 = and i1 %bound0149, %bound1150
  %conflict.rdx152 = or i1 %conflict.rdx148, %found.conflict151
  %bound0153 = icmp ult float* %9, %scevgep128
  %bound1154 = icmp ult float* %5, %scevgep126
  %found.conflict155 = and i1 %bound0153, %bound1154
  %conflict.rdx156 = or i1 %conflict.rdx152, %found.conflict155
  br i1 %conflict.rdx156, label %for_loop_body5.i.preheader181, label %vector.ph160

vector.ph160:                                     ; preds = %vector.memcheck119
  %n.vec162 = and i64 %wide.trip.count53.i, 4294967288
  %677 = add nsw i64 %n.vec162, -8
  %678 = lshr exact i64 %677, 3
  %679 = add nuw nsw i64 %678, 1
  %xtraiter183 = and i64 %679, 7
  %680 = icmp ult i64 %677, 56
  br i1 %680, label %middle.block157.unr-lcssa, label %vector.ph160.new

vector.ph160.new:                                 ; preds = %vector.ph160
  %unroll_iter = and i64 %679, 4611686018427387896
  %681 = getelementptr float, float* %9, i64 -2
  %scevgep253 = getelementptr float, float* %7, i64 56
  %scevgep277 = getelementptr float, float* %12, i64 56
  br label %vector.body165

vector.body165:                                   ; preds = %vector.body165, %vector.ph160.new
  %lsr.iv324 = phi i64 [ %lsr.iv.next325, %vector.body165 ], [ %unroll_iter, %vector.ph160.new ]
  %lsr.iv251 = phi i32 [ %lsr.iv.next252, %vector.body165 ], [ 96, %vector.ph160.new ]
  %index166 = phi i64 [ 0, %vector.ph160.new ], [ %index.next180.7, %vector.body165 ]
  %682 = add i32 %lsr.iv251, -96
  %683 = sext i32 %682 to i64
  %684 = getelementptr float, float* %5, i64 %683
  %685 = bitcast float* %684 to <24 x float>*
  %wide.vec167 = load <24 x float>, <24 x float>* %685, align 4
  %strided.vec168 = shufflevector <24 x float> %wide.vec167, <24 x float> poison, <8 x i32> <i32 0, i32 3, i32 6, i32 9, i32 12, i32 15, i32 18, i32 21>
  %strided.vec169 = shufflevector <24 x float> %wide.vec167, <24 x float> poison, <8 x i32> <i32 1, i32 4, i32 7, i32 10, i32 13, i32 16, i32 19, i32 22>
  %strided.vec170 = shufflevector <24 x float> %wide.vec167, <24 x float> poison, <8 x i32> <i32 2, i32 5, i32 8, i32 11, i32 14, i32 17, i32 20, i32 23>
  %686 = add i32 %lsr.iv251, -94
  %687 = sext i32 %686 to i64
  %688 = load float, float* %14, align 4, !alias.scope !27, !noalias !30
  %broadcast.splatinsert172 = insertelement <8 x float> poison, float %688, i64 0
  %broadcast.splat173 = shufflevector <8 x float> %broadcast.splatinsert172, <8 x float> poison, <8 x i32> zeroinitializer
  %scevgep274 = getelementptr float, float* %scevgep253, i64 %index166
  %scevgep274275 = bitcast float* %scevgep274 to <8 x float>*
  %scevgep276 = getelementptr <8 x float>, <8 x float>* %scevgep274275, i64 -7
  %wide.load171 = load <8 x float>, <8 x float>* %scevgep276, align 4, !alias.scope !32, !noalias !30
  %689 = fmul reassoc ninf nsz <8 x float> %wide.load171, %broadcast.splat173
  %scevgep318 = getelementptr float, float* %scevgep277, i64 %index166
  %scevgep318319 = bitcast float* %scevgep318 to <8 x float>*
  %scevgep320 = getelementptr <8 x float>, <8 x float>* %scevgep318319, i64 -7
  %wide.load174 = load <8 x float>, <8 x float>* %scevgep320, align 4, !alias.scope !34, !noalias !36
  %690 = fmul reassoc ninf nsz <24 x float> %wide.vec167, %wide.vec167
  %691 = shufflevector <24 x float> %690, <24 x float> poison, <8 x i32> <i32 0, i32 3, i32 6, i32 9, i32 12, i32 15, i32 18, i32 21>
  %692 = shufflevector <24 x float> %690, <24 x float> poison, <8 x i32> <i32 1, i32 4, i32 7, i32 10, i32 13, i32 16, i32 19, i32 22>
  %693 = fadd reassoc ninf nsz <8 x float> %692, %691
  %694 = shufflevector <24 x float> %690, <24 x float> poison, <8 x i32> <i32 2, i32 5, i32 8, i32 11, i32 14, i32 17, i32 20, i32 23>
  %695 = fadd reassoc ninf nsz <8 x float> %693, %694
  %696 = fmul reassoc ninf nsz <8 x float> %695, %broadcast.splat173
  %697 = fadd reassoc ninf nsz <8 x float> %wide.load174, %696
  store <8 x float> %697, <8 x float>* %scevgep320, align 4, !alias.scope !34, !noalias !36
  %698 = getelementptr float, float* %9, i64 %683
  %699 = bitcast float* %698 to <24 x float>*
  %wide.vec175 = load <24 x float>, <24 x float>* %699, align 4
  %strided.vec176 = shufflevector <24 x float> %wide.vec175, <24 x float> poison, <8 x i32> <i32 0, i32 3, i32 6, i32 9, i32 12, i32 15, i32 18, i32 21>
  %strided.vec177 = shufflevector <24 x float> %wide.vec175, <24 x float> poison, <8 x i32> <i32 1, i32 4, i32 7, i32 10, i32 13, i32 16, i32 19, i32 22>
  %strided.vec178 = shufflevector <24 x float> %wide.vec175, <24 x float> poison, <8 x i32> <i32 2, i32 5, i32 8, i32 11, i32 14, i32 17, i32 20, i32 23>
  %700 = fmul reassoc ninf nsz <8 x float> %689, <float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00>
  %701 = fmul reassoc ninf nsz <8 x float> %700, %strided.vec168
  %702 = fadd reassoc ninf nsz <8 x float> %strided.vec176, %701
  %703 = fmul reassoc ninf nsz <8 x float> %700, %strided.vec169
  %704 = fadd reassoc ninf nsz <8 x float> %strided.vec177, %703
  %705 = fmul reassoc ninf nsz <8 x float> %700, %strided.vec170
  %706 = fadd reassoc ninf nsz <8 x float> %strided.vec178, %705
  %707 = getelementptr float, float* %681, i64 %687
  %708 = bitcast float* %707 to <24 x float>*
  %709 = shufflevector <8 x float> %702, <8 x float> %704, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %710 = shufflevector <8 x float> %706, <8 x float> poison, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>
  %interleaved.vec179 = shufflevector <16 x float> %709, <16 x float> %710, <24 x i32> <i32 0, i32 8, i32 16, i32 1, i32 9, i32 17, i32 2, i32 10, i32 18, i32 3, i32 11, i32 19, i32 4, i32 12, i32 20, i32 5, i32 13, i32 21, i32 6, i32 14, i32 22, i32 7, i32 15, i32 23>
  store <24 x float> %interleaved.vec179, <24 x float>* %708, align 4
  %711 = add i32 %lsr.iv251, -72
  %712 = sext i32 %711 to i64
  %713 = getelementptr float, float* %5, i64 %712
  %714 = bitcast float* %713 to <24 x float>*
  %wide.vec167.1 = load <24 x float>, <24 x float>* %714, align 4
  %strided.vec168.1 = shufflevector <24 x float> %wide.vec167.1, <24 x float> poison, <8 x i32> <i32 0, i32 3, i32 6, i32 9, i32 12, i32 15, i32 18, i32 21>
  %strided.vec169.1 = shufflevector <24 x float> %wide.vec167.1, <24 x float> poison, <8 x i32> <i32 1, i32 4, i32 7, i32 10, i32 13, i32 16, i32 19, i32 22>
  %strided.vec170.1 = shufflevector <24 x float> %wide.vec167.1, <24 x float> poison, <8 x i32> <i32 2, i32 5, i32 8, i32 11, i32 14, i32 17, i32 20, i32 23>
  %715 = add i32 %lsr.iv251, -70
  %716 = sext i32 %715 to i64
  %717 = load float, float* %14, align 4, !alias.scope !27, !noalias !30
  %broadcast.splatinsert172.1 = insertelement <8 x float> poison, float %717, i64 0
  %broadcast.splat173.1 = shufflevector <8 x float> %broadcast.splatinsert172.1, <8 x float> poison, <8 x i32> zeroinitializer
  %scevgep271 = getelementptr <8 x float>, <8 x float>* %scevgep274275, i64 -6
  %wide.load171.1 = load <8 x float>, <8 x float>* %scevgep271, align 4, !alias.scope !32, !noalias !30
  %718 = fmul reassoc ninf nsz <8 x float> %wide.load171.1, %broadcast.splat173.1
  %scevgep313 = getelementptr <8 x float>, <8 x float>* %scevgep318319, i64 -6
  %wide.load174.1 = load <8 x float>, <8 x float>* %scevgep313, align 4, !alias.scope !34, !noalias !36
  %719 = fmul reassoc ninf nsz <24 x float> %wide.vec167.1, %wide.vec167.1
  %720 = shufflevector <24 x float> %719, <24 x float> poison, <8 x i32> <i32 0, i32 3, i32 6, i32 9, i32 12, i32 15, i32 18, i32 21>
  %721 = shufflevector <24 x float> %719, <24 x float> poison, <8 x i32> <i32 1, i32 4, i32 7, i32 10, i32 13, i32 16, i32 19, i32 22>
  %722 = fadd reassoc ninf nsz <8 x float> %721, %720
  %723 = shufflevector <24 x float> %719, <24 x float> poison, <8 x i32> <i32 2, i32 5, i32 8, i32 11, i32 14, i32 17, i32 20, i32 23>
  %724 = fadd reassoc ninf nsz <8 x float> %722, %723
  %725 = fmul reassoc ninf nsz <8 x float> %724, %broadcast.splat173.1
  %726 = fadd reassoc ninf nsz <8 x float> %wide.load174.1, %725
  store <8 x float> %726, <8 x float>* %scevgep313, align 4, !alias.scope !34, !noalias !36
  %727 = getelementptr float, float* %9, i64 %712
  %728 = bitcast float* %727 to <24 x float>*
  %wide.vec175.1 = load <24 x float>, <24 x float>* %728, align 4
  %strided.vec176.1 = shufflevector <24 x float> %wide.vec175.1, <24 x float> poison, <8 x i32> <i32 0, i32 3, i32 6, i32 9, i32 12, i32 15, i32 18, i32 21>
  %strided.vec177.1 = shufflevector <24 x float> %wide.vec175.1, <24 x float> poison, <8 x i32> <i32 1, i32 4, i32 7, i32 10, i32 13, i32 16, i32 19, i32 22>
  %strided.vec178.1 = shufflevector <24 x float> %wide.vec175.1, <24 x float> poison, <8 x i32> <i32 2, i32 5, i32 8, i32 11, i32 14, i32 17, i32 20, i32 23>
  %729 = fmul reassoc ninf nsz <8 x float> %718, <float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00>
  %730 = fmul reassoc ninf nsz <8 x float> %729, %strided.vec168.1
  %731 = fadd reassoc ninf nsz <8 x float> %strided.vec176.1, %730
  %732 = fmul reassoc ninf nsz <8 x float> %729, %strided.vec169.1
  %733 = fadd reassoc ninf nsz <8 x float> %strided.vec177.1, %732
  %734 = fmul reassoc ninf nsz <8 x float> %729, %strided.vec170.1
  %735 = fadd reassoc ninf nsz <8 x float> %strided.vec178.1, %734
  %736 = getelementptr float, float* %681, i64 %716
  %737 = bitcast float* %736 to <24 x float>*
  %738 = shufflevector <8 x float> %731, <8 x float> %733, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %739 = shufflevector <8 x float> %735, <8 x float> poison, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>
  %interleaved.vec179.1 = shufflevector <16 x float> %738, <16 x float> %739, <24 x i32> <i32 0, i32 8, i32 16, i32 1, i32 9, i32 17, i32 2, i32 10, i32 18, i32 3, i32 11, i32 19, i32 4, i32 12, i32 20, i32 5, i32 13, i32 21, i32 6, i32 14, i32 22, i32 7, i32 15, i32 23>
  store <24 x float> %interleaved.vec179.1, <24 x float>* %737, align 4
  %740 = add i32 %lsr.iv251, -48
  %741 = sext i32 %740 to i64
  %742 = getelementptr float, float* %5, i64 %741
  %743 = bitcast float* %742 to <24 x float>*
  %wide.vec167.2 = load <24 x float>, <24 x float>* %743, align 4
  %strided.vec168.2 = shufflevector <24 x float> %wide.vec167.2, <24 x float> poison, <8 x i32> <i32 0, i32 3, i32 6, i32 9, i32 12, i32 15, i32 18, i32 21>
  %strided.vec169.2 = shufflevector <24 x float> %wide.vec167.2, <24 x float> poison, <8 x i32> <i32 1, i32 4, i32 7, i32 10, i32 13, i32 16, i32 19, i32 22>
  %strided.vec170.2 = shufflevector <24 x float> %wide.vec167.2, <24 x float> poison, <8 x i32> <i32 2, i32 5, i32 8, i32 11, i32 14, i32 17, i32 20, i32 23>
  %744 = add i32 %lsr.iv251, -46
  %745 = sext i32 %744 to i64
  %746 = load float, float* %14, align 4, !alias.scope !27, !noalias !30
  %broadcast.splatinsert172.2 = insertelement <8 x float> poison, float %746, i64 0
  %broadcast.splat173.2 = shufflevector <8 x float> %broadcast.splatinsert172.2, <8 x float> poison, <8 x i32> zeroinitializer
  %scevgep268 = getelementptr <8 x float>, <8 x float>* %scevgep274275, i64 -5
  %wide.load171.2 = load <8 x float>, <8 x float>* %scevgep268, align 4, !alias.scope !32, !noalias !30
  %747 = fmul reassoc ninf nsz <8 x float> %wide.load171.2, %broadcast.splat173.2
  %scevgep307 = getelementptr <8 x float>, <8 x float>* %scevgep318319, i64 -5
  %wide.load174.2 = load <8 x float>, <8 x float>* %scevgep307, align 4, !alias.scope !34, !noalias !36
  %748 = fmul reassoc ninf nsz <24 x float> %wide.vec167.2, %wide.vec167.2
  %749 = shufflevector <24 x float> %748, <24 x float> poison, <8 x i32> <i32 0, i32 3, i32 6, i32 9, i32 12, i32 15, i32 18, i32 21>
  %750 = shufflevector <24 x float> %748, <24 x float> poison, <8 x i32> <i32 1, i32 4, i32 7, i32 10, i32 13, i32 16, i32 19, i32 22>
  %751 = fadd reassoc ninf nsz <8 x float> %750, %749
  %752 = shufflevector <24 x float> %748, <24 x float> poison, <8 x i32> <i32 2, i32 5, i32 8, i32 11, i32 14, i32 17, i32 20, i32 23>
  %753 = fadd reassoc ninf nsz <8 x float> %751, %752
  %754 = fmul reassoc ninf nsz <8 x float> %753, %broadcast.splat173.2
  %755 = fadd reassoc ninf nsz <8 x float> %wide.load174.2, %754
  store <8 x float> %755, <8 x float>* %scevgep307, align 4, !alias.scope !34, !noalias !36
  %756 = getelementptr float, float* %9, i64 %741
  %757 = bitcast float* %756 to <24 x float>*
  %wide.vec175.2 = load <24 x float>, <24 x float>* %757, align 4
  %strided.vec176.2 = shufflevector <24 x float> %wide.vec175.2, <24 x float> poison, <8 x i32> <i32 0, i32 3, i32 6, i32 9, i32 12, i32 15, i32 18, i32 21>
  %strided.vec177.2 = shufflevector <24 x float> %wide.vec175.2, <24 x float> poison, <8 x i32> <i32 1, i32 4, i32 7, i32 10, i32 13, i32 16, i32 19, i32 22>
  %strided.vec178.2 = shufflevector <24 x float> %wide.vec175.2, <24 x float> poison, <8 x i32> <i32 2, i32 5, i32 8, i32 11, i32 14, i32 17, i32 20, i32 23>
  %758 = fmul reassoc ninf nsz <8 x float> %747, <float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00>
  %759 = fmul reassoc ninf nsz <8 x float> %758, %strided.vec168.2
  %760 = fadd reassoc ninf nsz <8 x float> %strided.vec176.2, %759
  %761 = fmul reassoc ninf nsz <8 x float> %758, %strided.vec169.2
  %762 = fadd reassoc ninf nsz <8 x float> %strided.vec177.2, %761
  %763 = fmul reassoc ninf nsz <8 x float> %758, %strided.vec170.2
  %764 = fadd reassoc ninf nsz <8 x float> %strided.vec178.2, %763
  %765 = getelementptr float, float* %681, i64 %745
  %766 = bitcast float* %765 to <24 x float>*
  %767 = shufflevector <8 x float> %760, <8 x float> %762, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %768 = shufflevector <8 x float> %764, <8 x float> poison, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>
  %interleaved.vec179.2 = shufflevector <16 x float> %767, <16 x float> %768, <24 x i32> <i32 0, i32 8, i32 16, i32 1, i32 9, i32 17, i32 2, i32 10, i32 18, i32 3, i32 11, i32 19, i32 4, i32 12, i32 20, i32 5, i32 13, i32 21, i32 6, i32 14, i32 22, i32 7, i32 15, i32 23>
  store <24 x float> %interleaved.vec179.2, <24 x float>* %766, align 4
  %769 = sext i32 %lsr.iv251 to i64
  %770 = getelementptr float, float* %5, i64 %769
  %771 = getelementptr float, float* %770, i64 -24
  %772 = bitcast float* %771 to <24 x float>*
  %wide.vec167.3 = load <24 x float>, <24 x float>* %772, align 4
  %strided.vec168.3 = shufflevector <24 x float> %wide.vec167.3, <24 x float> poison, <8 x i32> <i32 0, i32 3, i32 6, i32 9, i32 12, i32 15, i32 18, i32 21>
  %strided.vec169.3 = shufflevector <24 x float> %wide.vec167.3, <24 x float> poison, <8 x i32> <i32 1, i32 4, i32 7, i32 10, i32 13, i32 16, i32 19, i32 22>
  %strided.vec170.3 = shufflevector <24 x float> %wide.vec167.3, <24 x float> poison, <8 x i32> <i32 2, i32 5, i32 8, i32 11, i32 14, i32 17, i32 20, i32 23>
  %773 = load float, float* %14, align 4, !alias.scope !27, !noalias !30
  %broadcast.splatinsert172.3 = insertelement <8 x float> poison, float %773, i64 0
  %broadcast.splat173.3 = shufflevector <8 x float> %broadcast.splatinsert172.3, <8 x float> poison, <8 x i32> zeroinitializer
  %scevgep265 = getelementptr <8 x float>, <8 x float>* %scevgep274275, i64 -4
  %wide.load171.3 = load <8 x float>, <8 x float>* %scevgep265, align 4, !alias.scope !32, !noalias !30
  %774 = fmul reassoc ninf nsz <8 x float> %wide.load171.3, %broadcast.splat173.3
  %scevgep301 = getelementptr <8 x float>, <8 x float>* %scevgep318319, i64 -4
  %wide.load174.3 = load <8 x float>, <8 x float>* %scevgep301, align 4, !alias.scope !34, !noalias !36
  %775 = fmul reassoc ninf nsz <24 x float> %wide.vec167.3, %wide.vec167.3
  %776 = shufflevector <24 x float> %775, <24 x float> poison, <8 x i32> <i32 0, i32 3, i32 6, i32 9, i32 12, i32 15, i32 18, i32 21>
  %777 = shufflevector <24 x float> %775, <24 x float> poison, <8 x i32> <i32 1, i32 4, i32 7, i32 10, i32 13, i32 16, i32 19, i32 22>
  %778 = fadd reassoc ninf nsz <8 x float> %777, %776
  %779 = shufflevector <24 x float> %775, <24 x float> poison, <8 x i32> <i32 2, i32 5, i32 8, i32 11, i32 14, i32 17, i32 20, i32 23>
  %780 = fadd reassoc ninf nsz <8 x float> %778, %779
  %781 = fmul reassoc ninf nsz <8 x float> %780, %broadcast.splat173.3
  %782 = fadd reassoc ninf nsz <8 x float> %wide.load174.3, %781
  store <8 x float> %782, <8 x float>* %scevgep301, align 4, !alias.scope !34, !noalias !36
  %783 = getelementptr float, float* %9, i64 %769
  %784 = getelementptr float, float* %783, i64 -24
  %785 = bitcast float* %784 to <24 x float>*
  %wide.vec175.3 = load <24 x float>, <24 x float>* %785, align 4
  %strided.vec176.3 = shufflevector <24 x float> %wide.vec175.3, <24 x float> poison, <8 x i32> <i32 0, i32 3, i32 6, i32 9, i32 12, i32 15, i32 18, i32 21>
  %strided.vec177.3 = shufflevector <24 x float> %wide.vec175.3, <24 x float> poison, <8 x i32> <i32 1, i32 4, i32 7, i32 10, i32 13, i32 16, i32 19, i32 22>
  %strided.vec178.3 = shufflevector <24 x float> %wide.vec175.3, <24 x float> poison, <8 x i32> <i32 2, i32 5, i32 8, i32 11, i32 14, i32 17, i32 20, i32 23>
  %786 = fmul reassoc ninf nsz <8 x float> %774, <float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00>
  %787 = fmul reassoc ninf nsz <8 x float> %786, %strided.vec168.3
  %788 = fadd reassoc ninf nsz <8 x float> %strided.vec176.3, %787
  %789 = fmul reassoc ninf nsz <8 x float> %786, %strided.vec169.3
  %790 = fadd reassoc ninf nsz <8 x float> %strided.vec177.3, %789
  %791 = fmul reassoc ninf nsz <8 x float> %786, %strided.vec170.3
  %792 = fadd reassoc ninf nsz <8 x float> %strided.vec178.3, %791
  %793 = getelementptr float, float* %681, i64 %769
  %794 = getelementptr float, float* %793, i64 -22
  %795 = bitcast float* %794 to <24 x float>*
  %796 = shufflevector <8 x float> %788, <8 x float> %790, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %797 = shufflevector <8 x float> %792, <8 x float> poison, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>
  %interleaved.vec179.3 = shufflevector <16 x float> %796, <16 x float> %797, <24 x i32> <i32 0, i32 8, i32 16, i32 1, i32 9, i32 17, i32 2, i32 10, i32 18, i32 3, i32 11, i32 19, i32 4, i32 12, i32 20, i32 5, i32 13, i32 21, i32 6, i32 14, i32 22, i32 7, i32 15, i32 23>
  store <24 x float> %interleaved.vec179.3, <24 x float>* %795, align 4
  %798 = bitcast float* %770 to <24 x float>*
  %wide.vec167.4 = load <24 x float>, <24 x float>* %798, align 4
  %strided.vec168.4 = shufflevector <24 x float> %wide.vec167.4, <24 x float> poison, <8 x i32> <i32 0, i32 3, i32 6, i32 9, i32 12, i32 15, i32 18, i32 21>
  %strided.vec169.4 = shufflevector <24 x float> %wide.vec167.4, <24 x float> poison, <8 x i32> <i32 1, i32 4, i32 7, i32 10, i32 13, i32 16, i32 19, i32 22>
  %strided.vec170.4 = shufflevector <24 x float> %wide.vec167.4, <24 x float> poison, <8 x i32> <i32 2, i32 5, i32 8, i32 11, i32 14, i32 17, i32 20, i32 23>
  %799 = load float, float* %14, align 4, !alias.scope !27, !noalias !30
  %broadcast.splatinsert172.4 = insertelement <8 x float> poison, float %799, i64 0
  %broadcast.splat173.4 = shufflevector <8 x float> %broadcast.splatinsert172.4, <8 x float> poison, <8 x i32> zeroinitializer
  %scevgep262 = getelementptr <8 x float>, <8 x float>* %scevgep274275, i64 -3
  %wide.load171.4 = load <8 x float>, <8 x float>* %scevgep262, align 4, !alias.scope !32, !noalias !30
  %800 = fmul reassoc ninf nsz <8 x float> %wide.load171.4, %broadcast.splat173.4
  %scevgep295 = getelementptr <8 x float>, <8 x float>* %scevgep318319, i64 -3
  %wide.load174.4 = load <8 x float>, <8 x float>* %scevgep295, align 4, !alias.scope !34, !noalias !36
  %801 = fmul reassoc ninf nsz <24 x float> %wide.vec167.4, %wide.vec167.4
  %802 = shufflevector <24 x float> %801, <24 x float> poison, <8 x i32> <i32 0, i32 3, i32 6, i32 9, i32 12, i32 15, i32 18, i32 21>
  %803 = shufflevector <24 x float> %801, <24 x float> poison, <8 x i32> <i32 1, i32 4, i32 7, i32 10, i32 13, i32 16, i32 19, i32 22>
  %804 = fadd reassoc ninf nsz <8 x float> %803, %802
  %805 = shufflevector <24 x float> %801, <24 x float> poison, <8 x i32> <i32 2, i32 5, i32 8, i32 11, i32 14, i32 17, i32 20, i32 23>
  %806 = fadd reassoc ninf nsz <8 x float> %804, %805
  %807 = fmul reassoc ninf nsz <8 x float> %806, %broadcast.splat173.4
  %808 = fadd reassoc ninf nsz <8 x float> %wide.load174.4, %807
  store <8 x float> %808, <8 x float>* %scevgep295, align 4, !alias.scope !34, !noalias !36
  %809 = bitcast float* %783 to <24 x float>*
  %wide.vec175.4 = load <24 x float>, <24 x float>* %809, align 4
  %strided.vec176.4 = shufflevector <24 x float> %wide.vec175.4, <24 x float> poison, <8 x i32> <i32 0, i32 3, i32 6, i32 9, i32 12, i32 15, i32 18, i32 21>
  %strided.vec177.4 = shufflevector <24 x float> %wide.vec175.4, <24 x float> poison, <8 x i32> <i32 1, i32 4, i32 7, i32 10, i32 13, i32 16, i32 19, i32 22>
  %strided.vec178.4 = shufflevector <24 x float> %wide.vec175.4, <24 x float> poison, <8 x i32> <i32 2, i32 5, i32 8, i32 11, i32 14, i32 17, i32 20, i32 23>
  %810 = fmul reassoc ninf nsz <8 x float> %800, <float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00>
  %811 = fmul reassoc ninf nsz <8 x float> %810, %strided.vec168.4
  %812 = fadd reassoc ninf nsz <8 x float> %strided.vec176.4, %811
  %813 = fmul reassoc ninf nsz <8 x float> %810, %strided.vec169.4
  %814 = fadd reassoc ninf nsz <8 x float> %strided.vec177.4, %813
  %815 = fmul reassoc ninf nsz <8 x float> %810, %strided.vec170.4
  %816 = fadd reassoc ninf nsz <8 x float> %strided.vec178.4, %815
  %817 = getelementptr float, float* %793, i64 2
  %818 = bitcast float* %817 to <24 x float>*
  %819 = shufflevector <8 x float> %812, <8 x float> %814, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %820 = shufflevector <8 x float> %816, <8 x float> poison, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>
  %interleaved.vec179.4 = shufflevector <16 x float> %819, <16 x float> %820, <24 x i32> <i32 0, i32 8, i32 16, i32 1, i32 9, i32 17, i32 2, i32 10, i32 18, i32 3, i32 11, i32 19, i32 4, i32 12, i32 20, i32 5, i32 13, i32 21, i32 6, i32 14, i32 22, i32 7, i32 15, i32 23>
  store <24 x float> %interleaved.vec179.4, <24 x float>* %818, align 4
  %821 = getelementptr float, float* %770, i64 24
  %822 = bitcast float* %821 to <24 x float>*
  %wide.vec167.5 = load <24 x float>, <24 x float>* %822, align 4
  %strided.vec168.5 = shufflevector <24 x float> %wide.vec167.5, <24 x float> poison, <8 x i32> <i32 0, i32 3, i32 6, i32 9, i32 12, i32 15, i32 18, i32 21>
  %strided.vec169.5 = shufflevector <24 x float> %wide.vec167.5, <24 x float> poison, <8 x i32> <i32 1, i32 4, i32 7, i32 10, i32 13, i32 16, i32 19, i32 22>
  %strided.vec170.5 = shufflevector <24 x float> %wide.vec167.5, <24 x float> poison, <8 x i32> <i32 2, i32 5, i32 8, i32 11, i32 14, i32 17, i32 20, i32 23>
  %823 = load float, float* %14, align 4, !alias.scope !27, !noalias !30
  %broadcast.splatinsert172.5 = insertelement <8 x float> poison, float %823, i64 0
  %broadcast.splat173.5 = shufflevector <8 x float> %broadcast.splatinsert172.5, <8 x float> poison, <8 x i32> zeroinitializer
  %scevgep259 = getelementptr <8 x float>, <8 x float>* %scevgep274275, i64 -2
  %wide.load171.5 = load <8 x float>, <8 x float>* %scevgep259, align 4, !alias.scope !32, !noalias !30
  %824 = fmul reassoc ninf nsz <8 x float> %wide.load171.5, %broadcast.splat173.5
  %scevgep289 = getelementptr <8 x float>, <8 x float>* %scevgep318319, i64 -2
  %wide.load174.5 = load <8 x float>, <8 x float>* %scevgep289, align 4, !alias.scope !34, !noalias !36
  %825 = fmul reassoc ninf nsz <24 x float> %wide.vec167.5, %wide.vec167.5
  %826 = shufflevector <24 x float> %825, <24 x float> poison, <8 x i32> <i32 0, i32 3, i32 6, i32 9, i32 12, i32 15, i32 18, i32 21>
  %827 = shufflevector <24 x float> %825, <24 x float> poison, <8 x i32> <i32 1, i32 4, i32 7, i32 10, i32 13, i32 16, i32 19, i32 22>
  %828 = fadd reassoc ninf nsz <8 x float> %827, %826
  %829 = shufflevector <24 x float> %825, <24 x float> poison, <8 x i32> <i32 2, i32 5, i32 8, i32 11, i32 14, i32 17, i32 20, i32 23>
  %830 = fadd reassoc ninf nsz <8 x float> %828, %829
  %831 = fmul reassoc ninf nsz <8 x float> %830, %broadcast.splat173.5
  %832 = fadd reassoc ninf nsz <8 x float> %wide.load174.5, %831
  store <8 x float> %832, <8 x float>* %scevgep289, align 4, !alias.scope !34, !noalias !36
  %833 = getelementptr float, float* %783, i64 24
  %834 = bitcast float* %833 to <24 x float>*
  %wide.vec175.5 = load <24 x float>, <24 x float>* %834, align 4
  %strided.vec176.5 = shufflevector <24 x float> %wide.vec175.5, <24 x float> poison, <8 x i32> <i32 0, i32 3, i32 6, i32 9, i32 12, i32 15, i32 18, i32 21>
  %strided.vec177.5 = shufflevector <24 x float> %wide.vec175.5, <24 x float> poison, <8 x i32> <i32 1, i32 4, i32 7, i32 10, i32 13, i32 16, i32 19, i32 22>
  %strided.vec178.5 = shufflevector <24 x float> %wide.vec175.5, <24 x float> poison, <8 x i32> <i32 2, i32 5, i32 8, i32 11, i32 14, i32 17, i32 20, i32 23>
  %835 = fmul reassoc ninf nsz <8 x float> %824, <float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00>
  %836 = fmul reassoc ninf nsz <8 x float> %835, %strided.vec168.5
  %837 = fadd reassoc ninf nsz <8 x float> %strided.vec176.5, %836
  %838 = fmul reassoc ninf nsz <8 x float> %835, %strided.vec169.5
  %839 = fadd reassoc ninf nsz <8 x float> %strided.vec177.5, %838
  %840 = fmul reassoc ninf nsz <8 x float> %835, %strided.vec170.5
  %841 = fadd reassoc ninf nsz <8 x float> %strided.vec178.5, %840
  %842 = getelementptr float, float* %793, i64 26
  %843 = bitcast float* %842 to <24 x float>*
  %844 = shufflevector <8 x float> %837, <8 x float> %839, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %845 = shufflevector <8 x float> %841, <8 x float> poison, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>
  %interleaved.vec179.5 = shufflevector <16 x float> %844, <16 x float> %845, <24 x i32> <i32 0, i32 8, i32 16, i32 1, i32 9, i32 17, i32 2, i32 10, i32 18, i32 3, i32 11, i32 19, i32 4, i32 12, i32 20, i32 5, i32 13, i32 21, i32 6, i32 14, i32 22, i32 7, i32 15, i32 23>
  store <24 x float> %interleaved.vec179.5, <24 x float>* %843, align 4
  %846 = add i32 %lsr.iv251, 48
  %847 = sext i32 %846 to i64
  %848 = getelementptr float, float* %5, i64 %847
  %849 = bitcast float* %848 to <24 x float>*
  %wide.vec167.6 = load <24 x float>, <24 x float>* %849, align 4
  %strided.vec168.6 = shufflevector <24 x float> %wide.vec167.6, <24 x float> poison, <8 x i32> <i32 0, i32 3, i32 6, i32 9, i32 12, i32 15, i32 18, i32 21>
  %strided.vec169.6 = shufflevector <24 x float> %wide.vec167.6, <24 x float> poison, <8 x i32> <i32 1, i32 4, i32 7, i32 10, i32 13, i32 16, i32 19, i32 22>
  %strided.vec170.6 = shufflevector <24 x float> %wide.vec167.6, <24 x float> poison, <8 x i32> <i32 2, i32 5, i32 8, i32 11, i32 14, i32 17, i32 20, i32 23>
  %850 = add i32 %lsr.iv251, 50
  %851 = sext i32 %850 to i64
  %852 = load float, float* %14, align 4, !alias.scope !27, !noalias !30
  %broadcast.splatinsert172.6 = insertelement <8 x float> poison, float %852, i64 0
  %broadcast.splat173.6 = shufflevector <8 x float> %broadcast.splatinsert172.6, <8 x float> poison, <8 x i32> zeroinitializer
  %scevgep256 = getelementptr <8 x float>, <8 x float>* %scevgep274275, i64 -1
  %wide.load171.6 = load <8 x float>, <8 x float>* %scevgep256, align 4, !alias.scope !32, !noalias !30
  %853 = fmul reassoc ninf nsz <8 x float> %wide.load171.6, %broadcast.splat173.6
  %scevgep283 = getelementptr <8 x float>, <8 x float>* %scevgep318319, i64 -1
  %wide.load174.6 = load <8 x float>, <8 x float>* %scevgep283, align 4, !alias.scope !34, !noalias !36
  %854 = fmul reassoc ninf nsz <24 x float> %wide.vec167.6, %wide.vec167.6
  %855 = shufflevector <24 x float> %854, <24 x float> poison, <8 x i32> <i32 0, i32 3, i32 6, i32 9, i32 12, i32 15, i32 18, i32 21>
  %856 = shufflevector <24 x float> %854, <24 x float> poison, <8 x i32> <i32 1, i32 4, i32 7, i32 10, i32 13, i32 16, i32 19, i32 22>
  %857 = fadd reassoc ninf nsz <8 x float> %856, %855
  %858 = shufflevector <24 x float> %854, <24 x float> poison, <8 x i32> <i32 2, i32 5, i32 8, i32 11, i32 14, i32 17, i32 20, i32 23>
  %859 = fadd reassoc ninf nsz <8 x float> %857, %858
  %860 = fmul reassoc ninf nsz <8 x float> %859, %broadcast.splat173.6
  %861 = fadd reassoc ninf nsz <8 x float> %wide.load174.6, %860
  store <8 x float> %861, <8 x float>* %scevgep283, align 4, !alias.scope !34, !noalias !36
  %862 = getelementptr float, float* %9, i64 %847
  %863 = bitcast float* %862 to <24 x float>*
  %wide.vec175.6 = load <24 x float>, <24 x float>* %863, align 4
  %strided.vec176.6 = shufflevector <24 x float> %wide.vec175.6, <24 x float> poison, <8 x i32> <i32 0, i32 3, i32 6, i32 9, i32 12, i32 15, i32 18, i32 21>
  %strided.vec177.6 = shufflevector <24 x float> %wide.vec175.6, <24 x float> poison, <8 x i32> <i32 1, i32 4, i32 7, i32 10, i32 13, i32 16, i32 19, i32 22>
  %strided.vec178.6 = shufflevector <24 x float> %wide.vec175.6, <24 x float> poison, <8 x i32> <i32 2, i32 5, i32 8, i32 11, i32 14, i32 17, i32 20, i32 23>
  %864 = fmul reassoc ninf nsz <8 x float> %853, <float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00>
  %865 = fmul reassoc ninf nsz <8 x float> %864, %strided.vec168.6
  %866 = fadd reassoc ninf nsz <8 x float> %strided.vec176.6, %865
  %867 = fmul reassoc ninf nsz <8 x float> %864, %strided.vec169.6
  %868 = fadd reassoc ninf nsz <8 x float> %strided.vec177.6, %867
  %869 = fmul reassoc ninf nsz <8 x float> %864, %strided.vec170.6
  %870 = fadd reassoc ninf nsz <8 x float> %strided.vec178.6, %869
  %871 = getelementptr float, float* %681, i64 %851
  %872 = bitcast float* %871 to <24 x float>*
  %873 = shufflevector <8 x float> %866, <8 x float> %868, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %874 = shufflevector <8 x float> %870, <8 x float> poison, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>
  %interleaved.vec179.6 = shufflevector <16 x float> %873, <16 x float> %874, <24 x i32> <i32 0, i32 8, i32 16, i32 1, i32 9, i32 17, i32 2, i32 10, i32 18, i32 3, i32 11, i32 19, i32 4, i32 12, i32 20, i32 5, i32 13, i32 21, i32 6, i32 14, i32 22, i32 7, i32 15, i32 23>
  store <24 x float> %interleaved.vec179.6, <24 x float>* %872, align 4
  %875 = add i32 %lsr.iv251, 72
  %876 = sext i32 %875 to i64
  %877 = getelementptr float, float* %5, i64 %876
  %878 = bitcast float* %877 to <24 x float>*
  %wide.vec167.7 = load <24 x float>, <24 x float>* %878, align 4
  %strided.vec168.7 = shufflevector <24 x float> %wide.vec167.7, <24 x float> poison, <8 x i32> <i32 0, i32 3, i32 6, i32 9, i32 12, i32 15, i32 18, i32 21>
  %strided.vec169.7 = shufflevector <24 x float> %wide.vec167.7, <24 x float> poison, <8 x i32> <i32 1, i32 4, i32 7, i32 10, i32 13, i32 16, i32 19, i32 22>
  %strided.vec170.7 = shufflevector <24 x float> %wide.vec167.7, <24 x float> poison, <8 x i32> <i32 2, i32 5, i32 8, i32 11, i32 14, i32 17, i32 20, i32 23>
  %879 = add i32 %lsr.iv251, 74
  %880 = sext i32 %879 to i64
  %881 = load float, float* %14, align 4, !alias.scope !27, !noalias !30
  %broadcast.splatinsert172.7 = insertelement <8 x float> poison, float %881, i64 0
  %broadcast.splat173.7 = shufflevector <8 x float> %broadcast.splatinsert172.7, <8 x float> poison, <8 x i32> zeroinitializer
  %wide.load171.7 = load <8 x float>, <8 x float>* %scevgep274275, align 4, !alias.scope !32, !noalias !30
  %882 = fmul reassoc ninf nsz <8 x float> %wide.load171.7, %broadcast.splat173.7
  %wide.load174.7 = load <8 x float>, <8 x float>* %scevgep318319, align 4, !alias.scope !34, !noalias !36
  %883 = fmul reassoc ninf nsz <24 x float> %wide.vec167.7, %wide.vec167.7
  %884 = shufflevector <24 x float> %883, <24 x float> poison, <8 x i32> <i32 0, i32 3, i32 6, i32 9, i32 12, i32 15, i32 18, i32 21>
  %885 = shufflevector <24 x float> %883, <24 x float> poison, <8 x i32> <i32 1, i32 4, i32 7, i32 10, i32 13, i32 16, i32 19, i32 22>
  %886 = fadd reassoc ninf nsz <8 x float> %885, %884
  %887 = shufflevector <24 x float> %883, <24 x float> poison, <8 x i32> <i32 2, i32 5, i32 8, i32 11, i32 14, i32 17, i32 20, i32 23>
  %888 = fadd reassoc ninf nsz <8 x float> %886, %887
  %889 = fmul reassoc ninf nsz <8 x float> %888, %broadcast.splat173.7
  %890 = fadd reassoc ninf nsz <8 x float> %wide.load174.7, %889
  store <8 x float> %890, <8 x float>* %scevgep318319, align 4, !alias.scope !34, !noalias !36
  %891 = getelementptr float, float* %9, i64 %876
  %892 = bitcast float* %891 to <24 x float>*
  %wide.vec175.7 = load <24 x float>, <24 x float>* %892, align 4
  %strided.vec176.7 = shufflevector <24 x float> %wide.vec175.7, <24 x float> poison, <8 x i32> <i32 0, i32 3, i32 6, i32 9, i32 12, i32 15, i32 18, i32 21>
  %strided.vec177.7 = shufflevector <24 x float> %wide.vec175.7, <24 x float> poison, <8 x i32> <i32 1, i32 4, i32 7, i32 10, i32 13, i32 16, i32 19, i32 22>
  %strided.vec178.7 = shufflevector <24 x float> %wide.vec175.7, <24 x float> poison, <8 x i32> <i32 2, i32 5, i32 8, i32 11, i32 14, i32 17, i32 20, i32 23>
  %893 = fmul reassoc ninf nsz <8 x float> %882, <float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00>
  %894 = fmul reassoc ninf nsz <8 x float> %893, %strided.vec168.7
  %895 = fadd reassoc ninf nsz <8 x float> %strided.vec176.7, %894
  %896 = fmul reassoc ninf nsz <8 x float> %893, %strided.vec169.7
  %897 = fadd reassoc ninf nsz <8 x float> %strided.vec177.7, %896
  %898 = fmul reassoc ninf nsz <8 x float> %893, %strided.vec170.7
  %899 = fadd reassoc ninf nsz <8 x float> %strided.vec178.7, %898
  %900 = getelementptr float, float* %681, i64 %880
  %901 = bitcast float* %900 to <24 x float>*
  %902 = shufflevector <8 x float> %895, <8 x float> %897, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %903 = shufflevector <8 x float> %899, <8 x float> poison, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>
  %interleaved.vec179.7 = shufflevector <16 x float> %902, <16 x float> %903, <24 x i32> <i32 0, i32 8, i32 16, i32 1, i32 9, i32 17, i32 2, i32 10, i32 18, i32 3, i32 11, i32 19, i32 4, i32 12, i32 20, i32 5, i32 13, i32 21, i32 6, i32 14, i32 22, i32 7, i32 15, i32 23>
  store <24 x float> %interleaved.vec179.7, <24 x float>* %901, align 4
  %index.next180.7 = add i64 %index166, 64
  %lsr.iv.next252 = add i32 %lsr.iv251, 192
  %lsr.iv.next325 = add i64 %lsr.iv324, -8
  %niter.ncmp.7 = icmp eq i64 %lsr.iv.next325, 0
  br i1 %niter.ncmp.7, label %middle.block157.unr-lcssa.loopexit, label %vector.body165, !llvm.loop !38

middle.block157.unr-lcssa.loopexit:               ; preds = %vector.body165
  br label %middle.block157.unr-lcssa

middle.block157.unr-lcssa:                        ; preds = %middle.block157.unr-lcssa.loopexit, %vector.ph160
  %index166.unr = phi i64 [ 0, %vector.ph160 ], [ %index.next180.7, %middle.block157.unr-lcssa.loopexit ]
  %lcmp.mod184.not = icmp eq i64 %xtraiter183, 0
  br i1 %lcmp.mod184.not, label %middle.block157, label %vector.body165.epil.preheader

vector.body165.epil.preheader:                    ; preds = %middle.block157.unr-lcssa
  %904 = getelementptr float, float* %9, i64 -2
  %scevgep238 = getelementptr float, float* %12, i64 %index166.unr
  %scevgep238241 = bitcast float* %scevgep238 to i8*
  %scevgep245 = getelementptr float, float* %7, i64 %index166.unr
  %scevgep245246 = bitcast float* %scevgep245 to i8*
  %905 = trunc i64 %index166.unr to i32
  %906 = mul i32 %905, 3
  %907 = shl nuw nsw i64 %xtraiter183, 5
  br label %vector.body165.epil

vector.body165.epil:                              ; preds = %vector.body165.epil, %vector.body165.epil.preheader
  %lsr.iv249 = phi i32 [ %lsr.iv.next250, %vector.body165.epil ], [ %906, %vector.body165.epil.preheader ]
  %lsr.iv239 = phi i64 [ %lsr.iv.next240, %vector.body165.epil ], [ 0, %vector.body165.epil.preheader ]
  %908 = sext i32 %lsr.iv249 to i64
  %909 = getelementptr float, float* %5, i64 %908
  %910 = bitcast float* %909 to <24 x float>*
  %wide.vec167.epil = load <24 x float>, <24 x float>* %910, align 4
  %strided.vec168.epil = shufflevector <24 x float> %wide.vec167.epil, <24 x float> poison, <8 x i32> <i32 0, i32 3, i32 6, i32 9, i32 12, i32 15, i32 18, i32 21>
  %strided.vec169.epil = shufflevector <24 x float> %wide.vec167.epil, <24 x float> poison, <8 x i32> <i32 1, i32 4, i32 7, i32 10, i32 13, i32 16, i32 19, i32 22>
  %strided.vec170.epil = shufflevector <24 x float> %wide.vec167.epil, <24 x float> poison, <8 x i32> <i32 2, i32 5, i32 8, i32 11, i32 14, i32 17, i32 20, i32 23>
  %911 = or i32 %lsr.iv249, 2
  %912 = sext i32 %911 to i64
  %913 = load float, float* %14, align 4, !alias.scope !27, !noalias !30
  %broadcast.splatinsert172.epil = insertelement <8 x float> poison, float %913, i64 0
  %broadcast.splat173.epil = shufflevector <8 x float> %broadcast.splatinsert172.epil, <8 x float> poison, <8 x i32> zeroinitializer
  %uglygep247 = getelementptr i8, i8* %scevgep245246, i64 %lsr.iv239
  %uglygep247248 = bitcast i8* %uglygep247 to <8 x float>*
  %wide.load171.epil = load <8 x float>, <8 x float>* %uglygep247248, align 4, !alias.scope !32, !noalias !30
  %914 = fmul reassoc ninf nsz <8 x float> %wide.load171.epil, %broadcast.splat173.epil
  %uglygep243 = getelementptr i8, i8* %scevgep238241, i64 %lsr.iv239
  %uglygep243244 = bitcast i8* %uglygep243 to <8 x float>*
  %wide.load174.epil = load <8 x float>, <8 x float>* %uglygep243244, align 4, !alias.scope !34, !noalias !36
  %915 = fmul reassoc ninf nsz <24 x float> %wide.vec167.epil, %wide.vec167.epil
  %916 = shufflevector <24 x float> %915, <24 x float> poison, <8 x i32> <i32 0, i32 3, i32 6, i32 9, i32 12, i32 15, i32 18, i32 21>
  %917 = shufflevector <24 x float> %915, <24 x float> poison, <8 x i32> <i32 1, i32 4, i32 7, i32 10, i32 13, i32 16, i32 19, i32 22>
  %918 = fadd reassoc ninf nsz <8 x float> %917, %916
  %919 = shufflevector <24 x float> %915, <24 x float> poison, <8 x i32> <i32 2, i32 5, i32 8, i32 11, i32 14, i32 17, i32 20, i32 23>
  %920 = fadd reassoc ninf nsz <8 x float> %918, %919
  %921 = fmul reassoc ninf nsz <8 x float> %920, %broadcast.splat173.epil
  %922 = fadd reassoc ninf nsz <8 x float> %wide.load174.epil, %921
  store <8 x float> %922, <8 x float>* %uglygep243244, align 4, !alias.scope !34, !noalias !36
  %923 = getelementptr float, float* %9, i64 %908
  %924 = bitcast float* %923 to <24 x float>*
  %wide.vec175.epil = load <24 x float>, <24 x float>* %924, align 4
  %strided.vec176.epil = shufflevector <24 x float> %wide.vec175.epil, <24 x float> poison, <8 x i32> <i32 0, i32 3, i32 6, i32 9, i32 12, i32 15, i32 18, i32 21>
  %strided.vec177.epil = shufflevector <24 x float> %wide.vec175.epil, <24 x float> poison, <8 x i32> <i32 1, i32 4, i32 7, i32 10, i32 13, i32 16, i32 19, i32 22>
  %strided.vec178.epil = shufflevector <24 x float> %wide.vec175.epil, <24 x float> poison, <8 x i32> <i32 2, i32 5, i32 8, i32 11, i32 14, i32 17, i32 20, i32 23>
  %925 = fmul reassoc ninf nsz <8 x float> %914, <float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00>
  %926 = fmul reassoc ninf nsz <8 x float> %925, %strided.vec168.epil
  %927 = fadd reassoc ninf nsz <8 x float> %strided.vec176.epil, %926
  %928 = fmul reassoc ninf nsz <8 x float> %925, %strided.vec169.epil
  %929 = fadd reassoc ninf nsz <8 x float> %strided.vec177.epil, %928
  %930 = fmul reassoc ninf nsz <8 x float> %925, %strided.vec170.epil
  %931 = fadd reassoc ninf nsz <8 x float> %strided.vec178.epil, %930
  %932 = getelementptr float, float* %904, i64 %912
  %933 = bitcast float* %932 to <24 x float>*
  %934 = shufflevector <8 x float> %927, <8 x float> %929, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %935 = shufflevector <8 x float> %931, <8 x float> poison, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>
  %interleaved.vec179.epil = shufflevector <16 x float> %934, <16 x float> %935, <24 x i32> <i32 0, i32 8, i32 16, i32 1, i32 9, i32 17, i32 2, i32 10, i32 18, i32 3, i32 11, i32 19, i32 4, i32 12, i32 20, i32 5, i32 13, i32 21, i32 6, i32 14, i32 22, i32 7, i32 15, i32 23>
  store <24 x float> %interleaved.vec179.epil, <24 x float>* %933, align 4
  %lsr.iv.next240 = add nuw nsw i64 %lsr.iv239, 32
  %lsr.iv.next250 = add i32 %lsr.iv249, 24
  %epil.iter.cmp.not = icmp eq i64 %907, %lsr.iv.next240
  br i1 %epil.iter.cmp.not, label %middle.block157.loopexit, label %vector.body165.epil, !llvm.loop !39

middle.block157.loopexit:                         ; preds = %vector.body165.epil
  br label %middle.block157

middle.block157:                                  ; preds = %middle.block157.loopexit, %middle.block157.unr-lcssa
  %cmp.n164 = icmp eq i64 %n.vec162, %wide.trip.count53.i
  br i1 %cmp.n164, label %sums_adjoint_body_1048593_0.exit, label %for_loop_body5.i.preheader181

for_loop_body5.i.preheader181:                    ; preds = %vector.memcheck119, %vector.scevcheck96, %for_loop_body5.i.preheader, %middle.block157
  %indvars.iv.i.ph = phi i64 [ 0, %vector.memcheck119 ], [ 0, %vector.scevcheck96 ], [ 0, %for_loop_body5.i.preheader ], [ %n.vec162, %middle.block157 ]
  %936 = xor i64 %indvars.iv.i.ph, -1
  %937 = add nsw i64 %936, %wide.trip.count53.i
  %xtraiter = and i64 %wide.trip.count53.i, 7
  %lcmp.mod.not = icmp eq i64 %xtraiter, 0
  br i1 %lcmp.mod.not, label %for_loop_body5.i.prol.loopexit, label %for_loop_body5.i.prol.preheader

for_loop_body5.i.prol.preheader:                  ; preds = %for_loop_body5.i.preheader181
  %scevgep232 = getelementptr float, float* %12, i64 %indvars.iv.i.ph
  %scevgep234 = getelementptr float, float* %7, i64 %indvars.iv.i.ph
  %938 = trunc i64 %indvars.iv.i.ph to i32
  %939 = mul i32 %938, 3
  br label %for_loop_body5.i.prol

for_loop_body5.i.prol:                            ; preds = %for_loop_body5.i.prol.preheader, %for_loop_body5.i.prol
  %lsr.iv236 = phi i32 [ %939, %for_loop_body5.i.prol.preheader ], [ %lsr.iv.next237, %for_loop_body5.i.prol ]
  %prol.iter = phi i64 [ %prol.iter.next, %for_loop_body5.i.prol ], [ 0, %for_loop_body5.i.prol.preheader ]
  %940 = sext i32 %lsr.iv236 to i64
  %941 = getelementptr float, float* %5, i64 %940
  %942 = load float, float* %941, align 4
  %943 = add i32 %lsr.iv236, 1
  %944 = sext i32 %943 to i64
  %945 = getelementptr float, float* %5, i64 %944
  %946 = load float, float* %945, align 4
  %947 = add i32 %lsr.iv236, 2
  %948 = sext i32 %947 to i64
  %949 = getelementptr float, float* %5, i64 %948
  %950 = load float, float* %949, align 4
  %951 = load float, float* %14, align 4
  %scevgep235 = getelementptr float, float* %scevgep234, i64 %prol.iter
  %952 = load float, float* %scevgep235, align 4
  %953 = fmul reassoc ninf nsz float %952, %951
  %scevgep233 = getelementptr float, float* %scevgep232, i64 %prol.iter
  %954 = load float, float* %scevgep233, align 4
  %955 = fmul reassoc ninf nsz float %942, %942
  %956 = fmul reassoc ninf nsz float %946, %946
  %957 = fadd reassoc ninf nsz float %956, %955
  %958 = fmul reassoc ninf nsz float %950, %950
  %959 = fadd reassoc ninf nsz float %957, %958
  %960 = fmul reassoc ninf nsz float %959, %951
  %961 = fadd reassoc ninf nsz float %954, %960
  store float %961, float* %scevgep233, align 4
  %962 = getelementptr float, float* %9, i64 %940
  %963 = load float, float* %962, align 4
  %964 = getelementptr float, float* %9, i64 %944
  %965 = load float, float* %964, align 4
  %966 = getelementptr float, float* %9, i64 %948
  %967 = load float, float* %966, align 4
  %968 = fmul reassoc ninf nsz float %953, 2.000000e+00
  %factor.i.prol = fmul reassoc ninf nsz float %968, %942
  %969 = fadd reassoc ninf nsz float %963, %factor.i.prol
  %factor39.i.prol = fmul reassoc ninf nsz float %968, %946
  %970 = fadd reassoc ninf nsz float %965, %factor39.i.prol
  %factor40.i.prol = fmul reassoc ninf nsz float %968, %950
  %971 = fadd reassoc ninf nsz float %967, %factor40.i.prol
  store float %969, float* %962, align 4
  store float %970, float* %964, align 4
  store float %971, float* %966, align 4
  %prol.iter.next = add nuw nsw i64 %prol.iter, 1
  %lsr.iv.next237 = add i32 %lsr.iv236, 3
  %prol.iter.cmp.not = icmp eq i64 %xtraiter, %prol.iter.next
  br i1 %prol.iter.cmp.not, label %for_loop_body5.i.prol.loopexit.loopexit, label %for_loop_body5.i.prol, !llvm.loop !40

for_loop_body5.i.prol.loopexit.loopexit:          ; preds = %for_loop_body5.i.prol
  %972 = add i64 %indvars.iv.i.ph, %prol.iter.next
  br label %for_loop_body5.i.prol.loopexit

for_loop_body5.i.prol.loopexit:                   ; preds = %for_loop_body5.i.prol.loopexit.loopexit, %for_loop_body5.i.preheader181
  %indvars.iv.i.unr = phi i64 [ %indvars.iv.i.ph, %for_loop_body5.i.preheader181 ], [ %972, %for_loop_body5.i.prol.loopexit.loopexit ]
  %973 = icmp ult i64 %937, 7
  br i1 %973, label %sums_adjoint_body_1048593_0.exit, label %for_loop_body5.i.preheader198

for_loop_body5.i.preheader198:                    ; preds = %for_loop_body5.i.prol.loopexit
  %scevgep200 = getelementptr float, float* %12, i64 7
  %scevgep216 = getelementptr float, float* %7, i64 7
  %974 = trunc i64 %indvars.iv.i.unr to i32
  %975 = mul i32 %974, 3
  %976 = add i32 %975, 23
  br label %for_loop_body5.i

for_loop_body5.i:                                 ; preds = %for_loop_body5.i.preheader198, %for_loop_body5.i
  %lsr.iv = phi i32 [ %976, %for_loop_body5.i.preheader198 ], [ %lsr.iv.next, %for_loop_body5.i ]
  %indvars.iv.i = phi i64 [ %indvars.iv.next.i.7, %for_loop_body5.i ], [ %indvars.iv.i.unr, %for_loop_body5.i.preheader198 ]
  %977 = add i32 %lsr.iv, -23
  %978 = sext i32 %977 to i64
  %979 = getelementptr float, float* %5, i64 %978
  %980 = load float, float* %979, align 4
  %981 = add i32 %lsr.iv, -22
  %982 = sext i32 %981 to i64
  %983 = getelementptr float, float* %5, i64 %982
  %984 = load float, float* %983, align 4
  %985 = add i32 %lsr.iv, -21
  %986 = sext i32 %985 to i64
  %987 = getelementptr float, float* %5, i64 %986
  %988 = load float, float* %987, align 4
  %989 = load float, float* %14, align 4
  %scevgep230 = getelementptr float, float* %scevgep216, i64 %indvars.iv.i
  %scevgep231 = getelementptr float, float* %scevgep230, i64 -7
  %990 = load float, float* %scevgep231, align 4
  %991 = fmul reassoc ninf nsz float %990, %989
  %scevgep214 = getelementptr float, float* %scevgep200, i64 %indvars.iv.i
  %scevgep215 = getelementptr float, float* %scevgep214, i64 -7
  %992 = load float, float* %scevgep215, align 4
  %993 = fmul reassoc ninf nsz float %980, %980
  %994 = fmul reassoc ninf nsz float %984, %984
  %995 = fadd reassoc ninf nsz float %994, %993
  %996 = fmul reassoc ninf nsz float %988, %988
  %997 = fadd reassoc ninf nsz float %995, %996
  %998 = fmul reassoc ninf nsz float %997, %989
  %999 = fadd reassoc ninf nsz float %992, %998
  store float %999, float* %scevgep215, align 4
  %1000 = getelementptr float, float* %9, i64 %978
  %1001 = load float, float* %1000, align 4
  %1002 = getelementptr float, float* %9, i64 %982
  %1003 = load float, float* %1002, align 4
  %1004 = getelementptr float, float* %9, i64 %986
  %1005 = load float, float* %1004, align 4
  %1006 = fmul reassoc ninf nsz float %991, 2.000000e+00
  %factor.i = fmul reassoc ninf nsz float %1006, %980
  %1007 = fadd reassoc ninf nsz float %1001, %factor.i
  %factor39.i = fmul reassoc ninf nsz float %1006, %984
  %1008 = fadd reassoc ninf nsz float %1003, %factor39.i
  %factor40.i = fmul reassoc ninf nsz float %1006, %988
  %1009 = fadd reassoc ninf nsz float %1005, %factor40.i
  store float %1007, float* %1000, align 4
  store float %1008, float* %1002, align 4
  store float %1009, float* %1004, align 4
  %1010 = add i32 %lsr.iv, -20
  %1011 = sext i32 %1010 to i64
  %1012 = getelementptr float, float* %5, i64 %1011
  %1013 = load float, float* %1012, align 4
  %1014 = add i32 %lsr.iv, -19
  %1015 = sext i32 %1014 to i64
  %1016 = getelementptr float, float* %5, i64 %1015
  %1017 = load float, float* %1016, align 4
  %1018 = add i32 %lsr.iv, -18
  %1019 = sext i32 %1018 to i64
  %1020 = getelementptr float, float* %5, i64 %1019
  %1021 = load float, float* %1020, align 4
  %1022 = load float, float* %14, align 4
  %scevgep229 = getelementptr float, float* %scevgep230, i64 -6
  %1023 = load float, float* %scevgep229, align 4
  %1024 = fmul reassoc ninf nsz float %1023, %1022
  %scevgep213 = getelementptr float, float* %scevgep214, i64 -6
  %1025 = load float, float* %scevgep213, align 4
  %1026 = fmul reassoc ninf nsz float %1013, %1013
  %1027 = fmul reassoc ninf nsz float %1017, %1017
  %1028 = fadd reassoc ninf nsz float %1027, %1026
  %1029 = fmul reassoc ninf nsz float %1021, %1021
  %1030 = fadd reassoc ninf nsz float %1028, %1029
  %1031 = fmul reassoc ninf nsz float %1030, %1022
  %1032 = fadd reassoc ninf nsz float %1025, %1031
  store float %1032, float* %scevgep213, align 4
  %1033 = getelementptr float, float* %9, i64 %1011
  %1034 = load float, float* %1033, align 4
  %1035 = getelementptr float, float* %9, i64 %1015
  %1036 = load float, float* %1035, align 4
  %1037 = getelementptr float, float* %9, i64 %1019
  %1038 = load float, float* %1037, align 4
  %1039 = fmul reassoc ninf nsz float %1024, 2.000000e+00
  %factor.i.1 = fmul reassoc ninf nsz float %1039, %1013
  %1040 = fadd reassoc ninf nsz float %1034, %factor.i.1
  %factor39.i.1 = fmul reassoc ninf nsz float %1039, %1017
  %1041 = fadd reassoc ninf nsz float %1036, %factor39.i.1
  %factor40.i.1 = fmul reassoc ninf nsz float %1039, %1021
  %1042 = fadd reassoc ninf nsz float %1038, %factor40.i.1
  store float %1040, float* %1033, align 4
  store float %1041, float* %1035, align 4
  store float %1042, float* %1037, align 4
  %1043 = add i32 %lsr.iv, -17
  %1044 = sext i32 %1043 to i64
  %1045 = getelementptr float, float* %5, i64 %1044
  %1046 = load float, float* %1045, align 4
  %1047 = add i32 %lsr.iv, -16
  %1048 = sext i32 %1047 to i64
  %1049 = getelementptr float, float* %5, i64 %1048
  %1050 = load float, float* %1049, align 4
  %1051 = add i32 %lsr.iv, -15
  %1052 = sext i32 %1051 to i64
  %1053 = getelementptr float, float* %5, i64 %1052
  %1054 = load float, float* %1053, align 4
  %1055 = load float, float* %14, align 4
  %scevgep227 = getelementptr float, float* %scevgep230, i64 -5
  %1056 = load float, float* %scevgep227, align 4
  %1057 = fmul reassoc ninf nsz float %1056, %1055
  %scevgep211 = getelementptr float, float* %scevgep214, i64 -5
  %1058 = load float, float* %scevgep211, align 4
  %1059 = fmul reassoc ninf nsz float %1046, %1046
  %1060 = fmul reassoc ninf nsz float %1050, %1050
  %1061 = fadd reassoc ninf nsz float %1060, %1059
  %1062 = fmul reassoc ninf nsz float %1054, %1054
  %1063 = fadd reassoc ninf nsz float %1061, %1062
  %1064 = fmul reassoc ninf nsz float %1063, %1055
  %1065 = fadd reassoc ninf nsz float %1058, %1064
  store float %1065, float* %scevgep211, align 4
  %1066 = getelementptr float, float* %9, i64 %1044
  %1067 = load float, float* %1066, align 4
  %1068 = getelementptr float, float* %9, i64 %1048
  %1069 = load float, float* %1068, align 4
  %1070 = getelementptr float, float* %9, i64 %1052
  %1071 = load float, float* %1070, align 4
  %1072 = fmul reassoc ninf nsz float %1057, 2.000000e+00
  %factor.i.2 = fmul reassoc ninf nsz float %1072, %1046
  %1073 = fadd reassoc ninf nsz float %1067, %factor.i.2
  %factor39.i.2 = fmul reassoc ninf nsz float %1072, %1050
  %1074 = fadd reassoc ninf nsz float %1069, %factor39.i.2
  %factor40.i.2 = fmul reassoc ninf nsz float %1072, %1054
  %1075 = fadd reassoc ninf nsz float %1071, %factor40.i.2
  store float %1073, float* %1066, align 4
  store float %1074, float* %1068, align 4
  store float %1075, float* %1070, align 4
  %1076 = add i32 %lsr.iv, -14
  %1077 = sext i32 %1076 to i64
  %1078 = getelementptr float, float* %5, i64 %1077
  %1079 = load float, float* %1078, align 4
  %1080 = add i32 %lsr.iv, -13
  %1081 = sext i32 %1080 to i64
  %1082 = getelementptr float, float* %5, i64 %1081
  %1083 = load float, float* %1082, align 4
  %1084 = add i32 %lsr.iv, -12
  %1085 = sext i32 %1084 to i64
  %1086 = getelementptr float, float* %5, i64 %1085
  %1087 = load float, float* %1086, align 4
  %1088 = load float, float* %14, align 4
  %scevgep225 = getelementptr float, float* %scevgep230, i64 -4
  %1089 = load float, float* %scevgep225, align 4
  %1090 = fmul reassoc ninf nsz float %1089, %1088
  %scevgep209 = getelementptr float, float* %scevgep214, i64 -4
  %1091 = load float, float* %scevgep209, align 4
  %1092 = fmul reassoc ninf nsz float %1079, %1079
  %1093 = fmul reassoc ninf nsz float %1083, %1083
  %1094 = fadd reassoc ninf nsz float %1093, %1092
  %1095 = fmul reassoc ninf nsz float %1087, %1087
  %1096 = fadd reassoc ninf nsz float %1094, %1095
  %1097 = fmul reassoc ninf nsz float %1096, %1088
  %1098 = fadd reassoc ninf nsz float %1091, %1097
  store float %1098, float* %scevgep209, align 4
  %1099 = getelementptr float, float* %9, i64 %1077
  %1100 = load float, float* %1099, align 4
  %1101 = getelementptr float, float* %9, i64 %1081
  %1102 = load float, float* %1101, align 4
  %1103 = getelementptr float, float* %9, i64 %1085
  %1104 = load float, float* %1103, align 4
  %1105 = fmul reassoc ninf nsz float %1090, 2.000000e+00
  %factor.i.3 = fmul reassoc ninf nsz float %1105, %1079
  %1106 = fadd reassoc ninf nsz float %1100, %factor.i.3
  %factor39.i.3 = fmul reassoc ninf nsz float %1105, %1083
  %1107 = fadd reassoc ninf nsz float %1102, %factor39.i.3
  %factor40.i.3 = fmul reassoc ninf nsz float %1105, %1087
  %1108 = fadd reassoc ninf nsz float %1104, %factor40.i.3
  store float %1106, float* %1099, align 4
  store float %1107, float* %1101, align 4
  store float %1108, float* %1103, align 4
  %1109 = add i32 %lsr.iv, -11
  %1110 = sext i32 %1109 to i64
  %1111 = getelementptr float, float* %5, i64 %1110
  %1112 = load float, float* %1111, align 4
  %1113 = add i32 %lsr.iv, -10
  %1114 = sext i32 %1113 to i64
  %1115 = getelementptr float, float* %5, i64 %1114
  %1116 = load float, float* %1115, align 4
  %1117 = add i32 %lsr.iv, -9
  %1118 = sext i32 %1117 to i64
  %1119 = getelementptr float, float* %5, i64 %1118
  %1120 = load float, float* %1119, align 4
  %1121 = load float, float* %14, align 4
  %scevgep223 = getelementptr float, float* %scevgep230, i64 -3
  %1122 = load float, float* %scevgep223, align 4
  %1123 = fmul reassoc ninf nsz float %1122, %1121
  %scevgep207 = getelementptr float, float* %scevgep214, i64 -3
  %1124 = load float, float* %scevgep207, align 4
  %1125 = fmul reassoc ninf nsz float %1112, %1112
  %1126 = fmul reassoc ninf nsz float %1116, %1116
  %1127 = fadd reassoc ninf nsz float %1126, %1125
  %1128 = fmul reassoc ninf nsz float %1120, %1120
  %1129 = fadd reassoc ninf nsz float %1127, %1128
  %1130 = fmul reassoc ninf nsz float %1129, %1121
  %1131 = fadd reassoc ninf nsz float %1124, %1130
  store float %1131, float* %scevgep207, align 4
  %1132 = getelementptr float, float* %9, i64 %1110
  %1133 = load float, float* %1132, align 4
  %1134 = getelementptr float, float* %9, i64 %1114
  %1135 = load float, float* %1134, align 4
  %1136 = getelementptr float, float* %9, i64 %1118
  %1137 = load float, float* %1136, align 4
  %1138 = fmul reassoc ninf nsz float %1123, 2.000000e+00
  %factor.i.4 = fmul reassoc ninf nsz float %1138, %1112
  %1139 = fadd reassoc ninf nsz float %1133, %factor.i.4
  %factor39.i.4 = fmul reassoc ninf nsz float %1138, %1116
  %1140 = fadd reassoc ninf nsz float %1135, %factor39.i.4
  %factor40.i.4 = fmul reassoc ninf nsz float %1138, %1120
  %1141 = fadd reassoc ninf nsz float %1137, %factor40.i.4
  store float %1139, float* %1132, align 4
  store float %1140, float* %1134, align 4
  store float %1141, float* %1136, align 4
  %1142 = add i32 %lsr.iv, -8
  %1143 = sext i32 %1142 to i64
  %1144 = getelementptr float, float* %5, i64 %1143
  %1145 = load float, float* %1144, align 4
  %1146 = add i32 %lsr.iv, -7
  %1147 = sext i32 %1146 to i64
  %1148 = getelementptr float, float* %5, i64 %1147
  %1149 = load float, float* %1148, align 4
  %1150 = add i32 %lsr.iv, -6
  %1151 = sext i32 %1150 to i64
  %1152 = getelementptr float, float* %5, i64 %1151
  %1153 = load float, float* %1152, align 4
  %1154 = load float, float* %14, align 4
  %scevgep221 = getelementptr float, float* %scevgep230, i64 -2
  %1155 = load float, float* %scevgep221, align 4
  %1156 = fmul reassoc ninf nsz float %1155, %1154
  %scevgep205 = getelementptr float, float* %scevgep214, i64 -2
  %1157 = load float, float* %scevgep205, align 4
  %1158 = fmul reassoc ninf nsz float %1145, %1145
  %1159 = fmul reassoc ninf nsz float %1149, %1149
  %1160 = fadd reassoc ninf nsz float %1159, %1158
  %1161 = fmul reassoc ninf nsz float %1153, %1153
  %1162 = fadd reassoc ninf nsz float %1160, %1161
  %1163 = fmul reassoc ninf nsz float %1162, %1154
  %1164 = fadd reassoc ninf nsz float %1157, %1163
  store float %1164, float* %scevgep205, align 4
  %1165 = getelementptr float, float* %9, i64 %1143
  %1166 = load float, float* %1165, align 4
  %1167 = getelementptr float, float* %9, i64 %1147
  %1168 = load float, float* %1167, align 4
  %1169 = getelementptr float, float* %9, i64 %1151
  %1170 = load float, float* %1169, align 4
  %1171 = fmul reassoc ninf nsz float %1156, 2.000000e+00
  %factor.i.5 = fmul reassoc ninf nsz float %1171, %1145
  %1172 = fadd reassoc ninf nsz float %1166, %factor.i.5
  %factor39.i.5 = fmul reassoc ninf nsz float %1171, %1149
  %1173 = fadd reassoc ninf nsz float %1168, %factor39.i.5
  %factor40.i.5 = fmul reassoc ninf nsz float %1171, %1153
  %1174 = fadd reassoc ninf nsz float %1170, %factor40.i.5
  store float %1172, float* %1165, align 4
  store float %1173, float* %1167, align 4
  store float %1174, float* %1169, align 4
  %1175 = add i32 %lsr.iv, -5
  %1176 = sext i32 %1175 to i64
  %1177 = getelementptr float, float* %5, i64 %1176
  %1178 = load float, float* %1177, align 4
  %1179 = add i32 %lsr.iv, -4
  %1180 = sext i32 %1179 to i64
  %1181 = getelementptr float, float* %5, i64 %1180
  %1182 = load float, float* %1181, align 4
  %1183 = add i32 %lsr.iv, -3
  %1184 = sext i32 %1183 to i64
  %1185 = getelementptr float, float* %5, i64 %1184
  %1186 = load float, float* %1185, align 4
  %1187 = load float, float* %14, align 4
  %scevgep219 = getelementptr float, float* %scevgep230, i64 -1
  %1188 = load float, float* %scevgep219, align 4
  %1189 = fmul reassoc ninf nsz float %1188, %1187
  %scevgep203 = getelementptr float, float* %scevgep214, i64 -1
  %1190 = load float, float* %scevgep203, align 4
  %1191 = fmul reassoc ninf nsz float %1178, %1178
  %1192 = fmul reassoc ninf nsz float %1182, %1182
  %1193 = fadd reassoc ninf nsz float %1192, %1191
  %1194 = fmul reassoc ninf nsz float %1186, %1186
  %1195 = fadd reassoc ninf nsz float %1193, %1194
  %1196 = fmul reassoc ninf nsz float %1195, %1187
  %1197 = fadd reassoc ninf nsz float %1190, %1196
  store float %1197, float* %scevgep203, align 4
  %1198 = getelementptr float, float* %9, i64 %1176
  %1199 = load float, float* %1198, align 4
  %1200 = getelementptr float, float* %9, i64 %1180
  %1201 = load float, float* %1200, align 4
  %1202 = getelementptr float, float* %9, i64 %1184
  %1203 = load float, float* %1202, align 4
  %1204 = fmul reassoc ninf nsz float %1189, 2.000000e+00
  %factor.i.6 = fmul reassoc ninf nsz float %1204, %1178
  %1205 = fadd reassoc ninf nsz float %1199, %factor.i.6
  %factor39.i.6 = fmul reassoc ninf nsz float %1204, %1182
  %1206 = fadd reassoc ninf nsz float %1201, %factor39.i.6
  %factor40.i.6 = fmul reassoc ninf nsz float %1204, %1186
  %1207 = fadd reassoc ninf nsz float %1203, %factor40.i.6
  store float %1205, float* %1198, align 4
  store float %1206, float* %1200, align 4
  store float %1207, float* %1202, align 4
  %1208 = add i32 %lsr.iv, -2
  %1209 = sext i32 %1208 to i64
  %1210 = getelementptr float, float* %5, i64 %1209
  %1211 = load float, float* %1210, align 4
  %1212 = add i32 %lsr.iv, -1
  %1213 = sext i32 %1212 to i64
  %1214 = getelementptr float, float* %5, i64 %1213
  %1215 = load float, float* %1214, align 4
  %1216 = sext i32 %lsr.iv to i64
  %1217 = getelementptr float, float* %5, i64 %1216
  %1218 = load float, float* %1217, align 4
  %1219 = load float, float* %14, align 4
  %1220 = load float, float* %scevgep230, align 4
  %1221 = fmul reassoc ninf nsz float %1220, %1219
  %1222 = load float, float* %scevgep214, align 4
  %1223 = fmul reassoc ninf nsz float %1211, %1211
  %1224 = fmul reassoc ninf nsz float %1215, %1215
  %1225 = fadd reassoc ninf nsz float %1224, %1223
  %1226 = fmul reassoc ninf nsz float %1218, %1218
  %1227 = fadd reassoc ninf nsz float %1225, %1226
  %1228 = fmul reassoc ninf nsz float %1227, %1219
  %1229 = fadd reassoc ninf nsz float %1222, %1228
  store float %1229, float* %scevgep214, align 4
  %1230 = getelementptr float, float* %9, i64 %1209
  %1231 = load float, float* %1230, align 4
  %1232 = getelementptr float, float* %9, i64 %1213
  %1233 = load float, float* %1232, align 4
  %1234 = getelementptr float, float* %9, i64 %1216
  %1235 = load float, float* %1234, align 4
  %1236 = fmul reassoc ninf nsz float %1221, 2.000000e+00
  %factor.i.7 = fmul reassoc ninf nsz float %1236, %1211
  %1237 = fadd reassoc ninf nsz float %1231, %factor.i.7
  %factor39.i.7 = fmul reassoc ninf nsz float %1236, %1215
  %1238 = fadd reassoc ninf nsz float %1233, %factor39.i.7
  %factor40.i.7 = fmul reassoc ninf nsz float %1236, %1218
  %1239 = fadd reassoc ninf nsz float %1235, %factor40.i.7
  store float %1237, float* %1230, align 4
  store float %1238, float* %1232, align 4
  store float %1239, float* %1234, align 4
  %indvars.iv.next.i.7 = add nuw nsw i64 %indvars.iv.i, 8
  %lsr.iv.next = add i32 %lsr.iv, 24
  %exitcond.not.i.7 = icmp eq i64 %wide.trip.count53.i, %indvars.iv.next.i.7
  br i1 %exitcond.not.i.7, label %sums_adjoint_body_1048593_0.exit.loopexit, label %for_loop_body5.i, !llvm.loop !41

sums_adjoint_body_1048593_0.exit.loopexit:        ; preds = %for_loop_body5.i
  br label %sums_adjoint_body_1048593_0.exit

sums_adjoint_body_1048593_0.exit:                 ; preds = %sums_adjoint_body_1048593_0.exit.loopexit, %for_loop_body5.i.prol.loopexit, %middle.block157, %entry
  ret void
}

; Function Attrs: nocallback nofree nosync nounwind readnone speculatable willreturn
declare { i32, i1 } @llvm.umul.with.overflow.i32(i32, i32) #1

; Function Attrs: nocallback nofree nosync nounwind readnone speculatable willreturn
declare { i64, i1 } @llvm.umul.with.overflow.i64(i64, i64) #1

attributes #0 = { nofree norecurse nosync nounwind }
attributes #1 = { nocallback nofree nosync nounwind readnone speculatable willreturn }

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
!10 = distinct !{!10, !11, !7}
!11 = !{!"llvm.loop.unroll.runtime.disable"}
!12 = !{!13}
!13 = distinct !{!13, !14}
!14 = distinct !{!14, !"LVerDomain"}
!15 = !{!16}
!16 = distinct !{!16, !14}
!17 = !{!18}
!18 = distinct !{!18, !14}
!19 = !{!13, !20, !16, !21}
!20 = distinct !{!20, !14}
!21 = distinct !{!21, !14}
!22 = !{!20}
!23 = distinct !{!23, !7}
!24 = distinct !{!24, !9}
!25 = distinct !{!25, !9}
!26 = distinct !{!26, !7}
!27 = !{!28}
!28 = distinct !{!28, !29}
!29 = distinct !{!29, !"LVerDomain"}
!30 = !{!31}
!31 = distinct !{!31, !29}
!32 = !{!33}
!33 = distinct !{!33, !29}
!34 = !{!35}
!35 = distinct !{!35, !29}
!36 = !{!28, !33, !31, !37}
!37 = distinct !{!37, !29}
!38 = distinct !{!38, !7}
!39 = distinct !{!39, !9}
!40 = distinct !{!40, !9}
!41 = distinct !{!41, !7}
