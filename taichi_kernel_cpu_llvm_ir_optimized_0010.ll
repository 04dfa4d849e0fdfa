; ModuleID = 'kernel'
source_filename = "kernel"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

%struct.RuntimeContext.70 = type { i8*, %struct.LLVMRuntime.69*, i32, i64* }
%struct.LLVMRuntime.69 = type { %struct.PreallocatedMemoryChunk.64, %struct.PreallocatedMemoryChunk.64, i8* (i8*, i64, i64)*, void (i8*)*, void (i8*, ...)*, i32 (i8*, i64, i8*, %struct.__va_list_tag.65*)*, i8*, [512 x i8*], [512 x i64], i8*, void (i8*, i32, i32, i8*, void (i8*, i32, i32)*)*, [1024 x %struct.ListManager.66*], [1024 x %struct.NodeManager.67*], [1024 x i8*], i8*, %struct.RandState.68*, i8*, void (i8*, i8*)*, void (i8*)*, [2048 x i8], [32 x i64], i32, i64, i8*, i32, i32, i64 }
%struct.PreallocatedMemoryChunk.64 = type { i8*, i8*, i64 }
%struct.__va_list_tag.65 = type { i32, i32, i8*, i8* }
%struct.ListManager.66 = type { [131072 x i8*], i64, i64, i32, i32, i32, %struct.LLVMRuntime.69* }
%struct.NodeManager.67 = type <{ %struct.LLVMRuntime.69*, i32, i32, i32, i32, %struct.ListManager.66*, %struct.ListManager.66*, %struct.ListManager.66*, i32, [4 x i8] }>
%struct.RandState.68 = type { i32, i32, i32, i32, i32 }

; Function Attrs: nofree norecurse nosync nounwind
define void @break_of_a_loop_over_a_field_c10_0_kernel_0_serial(%struct.RuntimeContext.70* nocapture readonly %context) local_unnamed_addr #0 {
entry:
  %0 = bitcast %struct.RuntimeContext.70* %context to { { { i32, i32 }, float* }, { { i32 }, float* } }**
  %1 = load { { { i32, i32 }, float* }, { { i32 }, float* } }*, { { { i32, i32 }, float* }, { { i32 }, float* } }** %0, align 8
  %2 = getelementptr { { { i32, i32 }, float* }, { { i32 }, float* } }, { { { i32, i32 }, float* }, { { i32 }, float* } }* %1, i64 0, i32 0, i32 0, i32 0
  %3 = load i32, i32* %2, align 4
  %4 = getelementptr { { { i32, i32 }, float* }, { { i32 }, float* } }, { { { i32, i32 }, float* }, { { i32 }, float* } }* %1, i64 0, i32 0, i32 1
  %5 = load float*, float** %4, align 8
  %6 = getelementptr { { { i32, i32 }, float* }, { { i32 }, float* } }, { { { i32, i32 }, float* }, { { i32 }, float* } }* %1, i64 0, i32 1, i32 1
  %7 = load float*, float** %6, align 8
  %8 = icmp slt i32 %3, 1
  br i1 %8, label %break_of_a_loop_over_a_field_body_1048586_0.exit, label %while_loop_body1.preheader.lr.ph.i

while_loop_body1.preheader.lr.ph.i:               ; preds = %entry
  %9 = getelementptr { { { i32, i32 }, float* }, { { i32 }, float* } }, { { { i32, i32 }, float* }, { { i32 }, float* } }* %1, i64 0, i32 0, i32 0, i32 1
  %10 = load i32, i32* %9, align 4
  %.fr39.i = freeze i32 %10
  %11 = icmp slt i32 %.fr39.i, 1
  br i1 %11, label %break_of_a_loop_over_a_field_body_1048586_0.exit, label %while_loop_body1.preheader.preheader.i

while_loop_body1.preheader.preheader.i:           ; preds = %while_loop_body1.preheader.lr.ph.i
  %12 = zext i32 %.fr39.i to i64
  br label %after_if5.lr.ph.i

after_if5.lr.ph.i:                                ; preds = %true_block3.i, %while_loop_body1.preheader.preheader.i
  %lsr.iv7 = phi i64 [ %lsr.iv.next8, %true_block3.i ], [ 0, %while_loop_body1.preheader.preheader.i ]
  %.035.i = phi i32 [ %13, %true_block3.i ], [ 0, %while_loop_body1.preheader.preheader.i ]
  %.02234.i = phi float [ %23, %true_block3.i ], [ 0.000000e+00, %while_loop_body1.preheader.preheader.i ]
  br label %after_if5.i

true_block3.i:                                    ; preds = %after_if5.i
  %13 = add nuw nsw i32 %.035.i, 1
  %14 = icmp sge i32 %13, %3
  %15 = or i1 %14, %24
  %lsr.iv.next8 = add nuw nsw i64 %lsr.iv7, %12
  br i1 %15, label %break_of_a_loop_over_a_field_body_1048586_0.exit.loopexit, label %after_if5.lr.ph.i

after_if5.i:                                      ; preds = %after_if5.i, %after_if5.lr.ph.i
  %lsr.iv = phi i64 [ %lsr.iv.next, %after_if5.i ], [ 1, %after_if5.lr.ph.i ]
  %.02530.i = phi float [ %.02234.i, %after_if5.lr.ph.i ], [ %23, %after_if5.i ]
  %16 = add nuw nsw i64 %lsr.iv7, %lsr.iv
  %17 = trunc i64 %16 to i32
  %18 = sext i32 %17 to i64
  %19 = getelementptr float, float* %5, i64 %18
  %20 = getelementptr float, float* %19, i64 -1
  %21 = load float, float* %20, align 4
  %22 = fmul reassoc ninf nsz float %21, %21
  %23 = fadd reassoc ninf nsz float %22, %.02530.i
  %24 = fcmp reassoc ninf nsz ogt float %23, 4.000000e+00
  %25 = icmp uge i64 %lsr.iv, %12
  %26 = or i1 %25, %24
  %lsr.iv.next = add nuw nsw i64 %lsr.iv, 1
  br i1 %26, label %true_block3.i, label %after_if5.i

break_of_a_loop_over_a_field_body_1048586_0.exit.loopexit: ; preds = %true_block3.i
  br label %break_of_a_loop_over_a_field_body_1048586_0.exit

break_of_a_loop_over_a_field_body_1048586_0.exit: ; preds = %break_of_a_loop_over_a_field_body_1048586_0.exit.loopexit, %entry, %while_loop_body1.preheader.lr.ph.i
  %.022.lcssa.i = phi float [ 0.000000e+00, %entry ], [ 0.000000e+00, %while_loop_body1.preheader.lr.ph.i ], [ %23, %break_of_a_loop_over_a_field_body_1048586_0.exit.loopexit ]
  %27 = fmul reassoc ninf nsz float %.022.lcssa.i, %.022.lcssa.i
  store float %27, float* %7, align 4
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
