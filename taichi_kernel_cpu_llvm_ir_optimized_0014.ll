; ModuleID = 'kernel'
source_filename = "kernel"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

%struct.RuntimeContext.98 = type { i8*, %struct.LLVMRuntime.97*, i32, i64* }
%struct.LLVMRuntime.97 = type { %struct.PreallocatedMemoryChunk.92, %struct.PreallocatedMemoryChunk.92, i8* (i8*, i64, i64)*, void (i8*)*, void (i8*, ...)*, i32 (i8*, i64, i8*, %struct.__va_list_tag.93*)*, i8*, [512 x i8*], [512 x i64], i8*, void (i8*, i32, i32, i8*, void (i8*, i32, i32)*)*, [1024 x %struct.ListManager.94*], [1024 x %struct.NodeManager.95*], [1024 x i8*], i8*, %struct.RandState.96*, i8*, void (i8*, i8*)*, void (i8*)*, [2048 x i8], [32 x i64], i32, i64, i8*, i32, i32, i64 }
%struct.PreallocatedMemoryChunk.92 = type { i8*, i8*, i64 }
%struct.__va_list_tag.93 = type { i32, i32, i8*, i8* }
%struct.ListManager.94 = type { [131072 x i8*], i64, i64, i32, i32, i32, %struct.LLVMRuntime.97* }
%struct.NodeManager.95 = type <{ %struct.LLVMRuntime.97*, i32, i32, i32, i32, %struct.ListManager.94*, %struct.ListManager.94*, %struct.ListManager.94*, i32, [4 x i8] }>
%struct.RandState.96 = type { i32, i32, i32, i32, i32 }

; Function Attrs: nofree norecurse nosync nounwind
define void @difference_used_in_a_loop_c14_0_kernel_0_serial(%struct.RuntimeContext.98* nocapture readonly %context) local_unnamed_addr #0 {
entry:
  %0 = bitcast %struct.RuntimeContext.98* %context to { { { i32 }, float* }, { { i32 }, float* } }**
  %1 = load { { { i32 }, float* }, { { i32 }, float* } }*, { { { i32 }, float* }, { { i32 }, float* } }** %0, align 8
  %2 = getelementptr { { { i32 }, float* }, { { i32 }, float* } }, { { { i32 }, float* }, { { i32 }, float* } }* %1, i64 0, i32 0, i32 0, i32 0
  %3 = load i32, i32* %2, align 4
  %4 = getelementptr { { { i32 }, float* }, { { i32 }, float* } }, { { { i32 }, float* }, { { i32 }, float* } }* %1, i64 0, i32 0, i32 1
  %5 = load float*, float** %4, align 8
  %6 = ptrtoint float* %5 to i64
  %7 = getelementptr { { { i32 }, float* }, { { i32 }, float* } }, { { { i32 }, float* }, { { i32 }, float* } }* %1, i64 0, i32 1, i32 1
  %8 = load float*, float** %7, align 8
  %9 = ptrtoint float* %8 to i64
  %10 = add i32 %3, -1
  %11 = icmp sgt i32 %10, 1
  br i1 %11, label %for_loop_body.preheader.i, label %difference_used_in_a_loop_body_1048590_0.exit

for_loop_body.preheader.i:                        ; preds = %entry
  %wide.trip.count.i = zext i32 %10 to i64
  %12 = add nsw i64 %wide.trip.count.i, -1
  %min.iters.check = icmp ult i64 %12, 32
  br i1 %min.iters.check, label %for_loop_body.i.preheader, label %vector.memcheck

vector.memcheck:                                  ; preds = %for_loop_body.preheader.i
  %13 = add i64 %9, 4
  %14 = sub i64 %13, %6
  %diff.check = icmp ult i64 %14, 128
  br i1 %diff.check, label %for_loop_body.i.preheader, label %vector.ph

vector.ph:                                        ; preds = %vector.memcheck
  %n.vec = and i64 %12, -32
  %ind.end = or i64 %n.vec, 1
  %15 = add nsw i64 %n.vec, -32
  %16 = lshr exact i64 %15, 5
  %17 = add nuw nsw i64 %16, 1
  %xtraiter6 = and i64 %17, 7
  %18 = icmp ult i64 %15, 224
  br i1 %18, label %middle.block.unr-lcssa, label %vector.ph.new

vector.ph.new:                                    ; preds = %vector.ph
  %unroll_iter = and i64 %17, 1152921504606846968
  %scevgep56 = getelementptr float, float* %8, i64 249
  %scevgep152 = getelementptr float, float* %5, i64 248
  br label %vector.body

vector.body:                                      ; preds = %vector.body, %vector.ph.new
  %lsr.iv248 = phi i64 [ %lsr.iv.next249, %vector.body ], [ %unroll_iter, %vector.ph.new ]
  %index = phi i64 [ 0, %vector.ph.new ], [ %index.next.7, %vector.body ]
  %scevgep236 = getelementptr float, float* %scevgep152, i64 %index
  %scevgep236237 = bitcast float* %scevgep236 to <8 x float>*
  %scevgep238 = getelementptr <8 x float>, <8 x float>* %scevgep236237, i64 -31
  %wide.load = load <8 x float>, <8 x float>* %scevgep238, align 4
  %scevgep247 = getelementptr <8 x float>, <8 x float>* %scevgep236237, i64 -30
  %wide.load3 = load <8 x float>, <8 x float>* %scevgep247, align 4
  %scevgep244 = getelementptr <8 x float>, <8 x float>* %scevgep236237, i64 -29
  %wide.load4 = load <8 x float>, <8 x float>* %scevgep244, align 4
  %scevgep241 = getelementptr <8 x float>, <8 x float>* %scevgep236237, i64 -28
  %wide.load5 = load <8 x float>, <8 x float>* %scevgep241, align 4
  %scevgep140 = getelementptr float, float* %scevgep56, i64 %index
  %scevgep140141 = bitcast float* %scevgep140 to <8 x float>*
  %scevgep142 = getelementptr <8 x float>, <8 x float>* %scevgep140141, i64 -31
  store <8 x float> %wide.load, <8 x float>* %scevgep142, align 4
  %scevgep151 = getelementptr <8 x float>, <8 x float>* %scevgep140141, i64 -30
  store <8 x float> %wide.load3, <8 x float>* %scevgep151, align 4
  %scevgep148 = getelementptr <8 x float>, <8 x float>* %scevgep140141, i64 -29
  store <8 x float> %wide.load4, <8 x float>* %scevgep148, align 4
  %scevgep145 = getelementptr <8 x float>, <8 x float>* %scevgep140141, i64 -28
  store <8 x float> %wide.load5, <8 x float>* %scevgep145, align 4
  %scevgep224 = getelementptr <8 x float>, <8 x float>* %scevgep236237, i64 -27
  %wide.load.1 = load <8 x float>, <8 x float>* %scevgep224, align 4
  %scevgep221 = getelementptr <8 x float>, <8 x float>* %scevgep236237, i64 -26
  %wide.load3.1 = load <8 x float>, <8 x float>* %scevgep221, align 4
  %scevgep218 = getelementptr <8 x float>, <8 x float>* %scevgep236237, i64 -25
  %wide.load4.1 = load <8 x float>, <8 x float>* %scevgep218, align 4
  %scevgep215 = getelementptr <8 x float>, <8 x float>* %scevgep236237, i64 -24
  %wide.load5.1 = load <8 x float>, <8 x float>* %scevgep215, align 4
  %scevgep128 = getelementptr <8 x float>, <8 x float>* %scevgep140141, i64 -27
  store <8 x float> %wide.load.1, <8 x float>* %scevgep128, align 4
  %scevgep125 = getelementptr <8 x float>, <8 x float>* %scevgep140141, i64 -26
  store <8 x float> %wide.load3.1, <8 x float>* %scevgep125, align 4
  %scevgep122 = getelementptr <8 x float>, <8 x float>* %scevgep140141, i64 -25
  store <8 x float> %wide.load4.1, <8 x float>* %scevgep122, align 4
  %scevgep119 = getelementptr <8 x float>, <8 x float>* %scevgep140141, i64 -24
  store <8 x float> %wide.load5.1, <8 x float>* %scevgep119, align 4
  %scevgep212 = getelementptr <8 x float>, <8 x float>* %scevgep236237, i64 -23
  %wide.load.2 = load <8 x float>, <8 x float>* %scevgep212, align 4
  %scevgep209 = getelementptr <8 x float>, <8 x float>* %scevgep236237, i64 -22
  %wide.load3.2 = load <8 x float>, <8 x float>* %scevgep209, align 4
  %scevgep206 = getelementptr <8 x float>, <8 x float>* %scevgep236237, i64 -21
  %wide.load4.2 = load <8 x float>, <8 x float>* %scevgep206, align 4
  %scevgep203 = getelementptr <8 x float>, <8 x float>* %scevgep236237, i64 -20
  %wide.load5.2 = load <8 x float>, <8 x float>* %scevgep203, align 4
  %scevgep116 = getelementptr <8 x float>, <8 x float>* %scevgep140141, i64 -23
  store <8 x float> %wide.load.2, <8 x float>* %scevgep116, align 4
  %scevgep113 = getelementptr <8 x float>, <8 x float>* %scevgep140141, i64 -22
  store <8 x float> %wide.load3.2, <8 x float>* %scevgep113, align 4
  %scevgep110 = getelementptr <8 x float>, <8 x float>* %scevgep140141, i64 -21
  store <8 x float> %wide.load4.2, <8 x float>* %scevgep110, align 4
  %scevgep107 = getelementptr <8 x float>, <8 x float>* %scevgep140141, i64 -20
  store <8 x float> %wide.load5.2, <8 x float>* %scevgep107, align 4
  %scevgep200 = getelementptr <8 x float>, <8 x float>* %scevgep236237, i64 -19
  %wide.load.3 = load <8 x float>, <8 x float>* %scevgep200, align 4
  %scevgep197 = getelementptr <8 x float>, <8 x float>* %scevgep236237, i64 -18
  %wide.load3.3 = load <8 x float>, <8 x float>* %scevgep197, align 4
  %scevgep194 = getelementptr <8 x float>, <8 x float>* %scevgep236237, i64 -17
  %wide.load4.3 = load <8 x float>, <8 x float>* %scevgep194, align 4
  %scevgep191 = getelementptr <8 x float>, <8 x float>* %scevgep236237, i64 -16
  %wide.load5.3 = load <8 x float>, <8 x float>* %scevgep191, align 4
  %scevgep104 = getelementptr <8 x float>, <8 x float>* %scevgep140141, i64 -19
  store <8 x float> %wide.load.3, <8 x float>* %scevgep104, align 4
  %scevgep101 = getelementptr <8 x float>, <8 x float>* %scevgep140141, i64 -18
  store <8 x float> %wide.load3.3, <8 x float>* %scevgep101, align 4
  %scevgep98 = getelementptr <8 x float>, <8 x float>* %scevgep140141, i64 -17
  store <8 x float> %wide.load4.3, <8 x float>* %scevgep98, align 4
  %scevgep95 = getelementptr <8 x float>, <8 x float>* %scevgep140141, i64 -16
  store <8 x float> %wide.load5.3, <8 x float>* %scevgep95, align 4
  %scevgep188 = getelementptr <8 x float>, <8 x float>* %scevgep236237, i64 -15
  %wide.load.4 = load <8 x float>, <8 x float>* %scevgep188, align 4
  %scevgep185 = getelementptr <8 x float>, <8 x float>* %scevgep236237, i64 -14
  %wide.load3.4 = load <8 x float>, <8 x float>* %scevgep185, align 4
  %scevgep182 = getelementptr <8 x float>, <8 x float>* %scevgep236237, i64 -13
  %wide.load4.4 = load <8 x float>, <8 x float>* %scevgep182, align 4
  %scevgep179 = getelementptr <8 x float>, <8 x float>* %scevgep236237, i64 -12
  %wide.load5.4 = load <8 x float>, <8 x float>* %scevgep179, align 4
  %scevgep92 = getelementptr <8 x float>, <8 x float>* %scevgep140141, i64 -15
  store <8 x float> %wide.load.4, <8 x float>* %scevgep92, align 4
  %scevgep89 = getelementptr <8 x float>, <8 x float>* %scevgep140141, i64 -14
  store <8 x float> %wide.load3.4, <8 x float>* %scevgep89, align 4
  %scevgep86 = getelementptr <8 x float>, <8 x float>* %scevgep140141, i64 -13
  store <8 x float> %wide.load4.4, <8 x float>* %scevgep86, align 4
  %scevgep83 = getelementptr <8 x float>, <8 x float>* %scevgep140141, i64 -12
  store <8 x float> %wide.load5.4, <8 x float>* %scevgep83, align 4
  %scevgep176 = getelementptr <8 x float>, <8 x float>* %scevgep236237, i64 -11
  %wide.load.5 = load <8 x float>, <8 x float>* %scevgep176, align 4
  %scevgep173 = getelementptr <8 x float>, <8 x float>* %scevgep236237, i64 -10
  %wide.load3.5 = load <8 x float>, <8 x float>* %scevgep173, align 4
  %scevgep170 = getelementptr <8 x float>, <8 x float>* %scevgep236237, i64 -9
  %wide.load4.5 = load <8 x float>, <8 x float>* %scevgep170, align 4
  %scevgep167 = getelementptr <8 x float>, <8 x float>* %scevgep236237, i64 -8
  %wide.load5.5 = load <8 x float>, <8 x float>* %scevgep167, align 4
  %scevgep80 = getelementptr <8 x float>, <8 x float>* %scevgep140141, i64 -11
  store <8 x float> %wide.load.5, <8 x float>* %scevgep80, align 4
  %scevgep77 = getelementptr <8 x float>, <8 x float>* %scevgep140141, i64 -10
  store <8 x float> %wide.load3.5, <8 x float>* %scevgep77, align 4
  %scevgep74 = getelementptr <8 x float>, <8 x float>* %scevgep140141, i64 -9
  store <8 x float> %wide.load4.5, <8 x float>* %scevgep74, align 4
  %scevgep71 = getelementptr <8 x float>, <8 x float>* %scevgep140141, i64 -8
  store <8 x float> %wide.load5.5, <8 x float>* %scevgep71, align 4
  %scevgep164 = getelementptr <8 x float>, <8 x float>* %scevgep236237, i64 -7
  %wide.load.6 = load <8 x float>, <8 x float>* %scevgep164, align 4
  %scevgep161 = getelementptr <8 x float>, <8 x float>* %scevgep236237, i64 -6
  %wide.load3.6 = load <8 x float>, <8 x float>* %scevgep161, align 4
  %scevgep158 = getelementptr <8 x float>, <8 x float>* %scevgep236237, i64 -5
  %wide.load4.6 = load <8 x float>, <8 x float>* %scevgep158, align 4
  %scevgep155 = getelementptr <8 x float>, <8 x float>* %scevgep236237, i64 -4
  %wide.load5.6 = load <8 x float>, <8 x float>* %scevgep155, align 4
  %scevgep68 = getelementptr <8 x float>, <8 x float>* %scevgep140141, i64 -7
  store <8 x float> %wide.load.6, <8 x float>* %scevgep68, align 4
  %scevgep65 = getelementptr <8 x float>, <8 x float>* %scevgep140141, i64 -6
  store <8 x float> %wide.load3.6, <8 x float>* %scevgep65, align 4
  %scevgep62 = getelementptr <8 x float>, <8 x float>* %scevgep140141, i64 -5
  store <8 x float> %wide.load4.6, <8 x float>* %scevgep62, align 4
  %scevgep59 = getelementptr <8 x float>, <8 x float>* %scevgep140141, i64 -4
  store <8 x float> %wide.load5.6, <8 x float>* %scevgep59, align 4
  %scevgep235 = getelementptr <8 x float>, <8 x float>* %scevgep236237, i64 -3
  %wide.load.7 = load <8 x float>, <8 x float>* %scevgep235, align 4
  %scevgep232 = getelementptr <8 x float>, <8 x float>* %scevgep236237, i64 -2
  %wide.load3.7 = load <8 x float>, <8 x float>* %scevgep232, align 4
  %scevgep229 = getelementptr <8 x float>, <8 x float>* %scevgep236237, i64 -1
  %wide.load4.7 = load <8 x float>, <8 x float>* %scevgep229, align 4
  %wide.load5.7 = load <8 x float>, <8 x float>* %scevgep236237, align 4
  %scevgep139 = getelementptr <8 x float>, <8 x float>* %scevgep140141, i64 -3
  store <8 x float> %wide.load.7, <8 x float>* %scevgep139, align 4
  %scevgep136 = getelementptr <8 x float>, <8 x float>* %scevgep140141, i64 -2
  store <8 x float> %wide.load3.7, <8 x float>* %scevgep136, align 4
  %scevgep133 = getelementptr <8 x float>, <8 x float>* %scevgep140141, i64 -1
  store <8 x float> %wide.load4.7, <8 x float>* %scevgep133, align 4
  store <8 x float> %wide.load5.7, <8 x float>* %scevgep140141, align 4
  %index.next.7 = add i64 %index, 256
  %lsr.iv.next249 = add i64 %lsr.iv248, -8
  %niter.ncmp.7 = icmp eq i64 %lsr.iv.next249, 0
  br i1 %niter.ncmp.7, label %middle.block.unr-lcssa.loopexit, label %vector.body, !llvm.loop !6

middle.block.unr-lcssa.loopexit:                  ; preds = %vector.body
  br label %middle.block.unr-lcssa

middle.block.unr-lcssa:                           ; preds = %middle.block.unr-lcssa.loopexit, %vector.ph
  %index.unr = phi i64 [ 0, %vector.ph ], [ %index.next.7, %middle.block.unr-lcssa.loopexit ]
  %lcmp.mod7.not = icmp eq i64 %xtraiter6, 0
  br i1 %lcmp.mod7.not, label %middle.block, label %vector.body.epil.preheader

vector.body.epil.preheader:                       ; preds = %middle.block.unr-lcssa
  %scevgep42 = getelementptr float, float* %5, i64 24
  br label %vector.body.epil

vector.body.epil:                                 ; preds = %vector.body.epil.preheader, %vector.body.epil
  %lsr.iv54 = phi i64 [ %xtraiter6, %vector.body.epil.preheader ], [ %lsr.iv.next55, %vector.body.epil ]
  %index.epil = phi i64 [ %index.next.epil, %vector.body.epil ], [ %index.unr, %vector.body.epil.preheader ]
  %offset.idx.epil = or i64 %index.epil, 1
  %scevgep51 = getelementptr float, float* %scevgep42, i64 %index.epil
  %scevgep5152 = bitcast float* %scevgep51 to <8 x float>*
  %scevgep53 = getelementptr <8 x float>, <8 x float>* %scevgep5152, i64 -3
  %wide.load.epil = load <8 x float>, <8 x float>* %scevgep53, align 4
  %scevgep50 = getelementptr <8 x float>, <8 x float>* %scevgep5152, i64 -2
  %wide.load3.epil = load <8 x float>, <8 x float>* %scevgep50, align 4
  %scevgep47 = getelementptr <8 x float>, <8 x float>* %scevgep5152, i64 -1
  %wide.load4.epil = load <8 x float>, <8 x float>* %scevgep47, align 4
  %wide.load5.epil = load <8 x float>, <8 x float>* %scevgep5152, align 4
  %19 = getelementptr float, float* %8, i64 %offset.idx.epil
  %20 = bitcast float* %19 to <8 x float>*
  store <8 x float> %wide.load.epil, <8 x float>* %20, align 4
  %21 = getelementptr float, float* %19, i64 8
  %22 = bitcast float* %21 to <8 x float>*
  store <8 x float> %wide.load3.epil, <8 x float>* %22, align 4
  %23 = getelementptr float, float* %19, i64 16
  %24 = bitcast float* %23 to <8 x float>*
  store <8 x float> %wide.load4.epil, <8 x float>* %24, align 4
  %25 = getelementptr float, float* %19, i64 24
  %26 = bitcast float* %25 to <8 x float>*
  store <8 x float> %wide.load5.epil, <8 x float>* %26, align 4
  %index.next.epil = add nuw nsw i64 %index.epil, 32
  %lsr.iv.next55 = add nsw i64 %lsr.iv54, -1
  %epil.iter.cmp.not = icmp eq i64 %lsr.iv.next55, 0
  br i1 %epil.iter.cmp.not, label %middle.block.loopexit, label %vector.body.epil, !llvm.loop !8

middle.block.loopexit:                            ; preds = %vector.body.epil
  br label %middle.block

middle.block:                                     ; preds = %middle.block.loopexit, %middle.block.unr-lcssa
  %cmp.n = icmp eq i64 %12, %n.vec
  br i1 %cmp.n, label %difference_used_in_a_loop_body_1048590_0.exit, label %for_loop_body.i.preheader

for_loop_body.i.preheader:                        ; preds = %vector.memcheck, %for_loop_body.preheader.i, %middle.block
  %indvars.iv.i.ph = phi i64 [ 1, %vector.memcheck ], [ 1, %for_loop_body.preheader.i ], [ %ind.end, %middle.block ]
  %27 = sub nsw i64 %wide.trip.count.i, %indvars.iv.i.ph
  %28 = xor i64 %indvars.iv.i.ph, -1
  %29 = add nsw i64 %28, %wide.trip.count.i
  %xtraiter = and i64 %27, 7
  %lcmp.mod.not = icmp eq i64 %xtraiter, 0
  br i1 %lcmp.mod.not, label %for_loop_body.i.prol.loopexit, label %for_loop_body.i.prol.preheader

for_loop_body.i.prol.preheader:                   ; preds = %for_loop_body.i.preheader
  %scevgep40 = getelementptr float, float* %5, i64 -1
  br label %for_loop_body.i.prol

for_loop_body.i.prol:                             ; preds = %for_loop_body.i.prol.preheader, %for_loop_body.i.prol
  %lsr.iv = phi i64 [ %xtraiter, %for_loop_body.i.prol.preheader ], [ %lsr.iv.next, %for_loop_body.i.prol ]
  %indvars.iv.i.prol = phi i64 [ %indvars.iv.next.i.prol, %for_loop_body.i.prol ], [ %indvars.iv.i.ph, %for_loop_body.i.prol.preheader ]
  %scevgep41 = getelementptr float, float* %scevgep40, i64 %indvars.iv.i.prol
  %30 = load float, float* %scevgep41, align 4
  %scevgep39 = getelementptr float, float* %8, i64 %indvars.iv.i.prol
  store float %30, float* %scevgep39, align 4
  %indvars.iv.next.i.prol = add nuw nsw i64 %indvars.iv.i.prol, 1
  %lsr.iv.next = add nsw i64 %lsr.iv, -1
  %prol.iter.cmp.not = icmp eq i64 %lsr.iv.next, 0
  br i1 %prol.iter.cmp.not, label %for_loop_body.i.prol.loopexit.loopexit, label %for_loop_body.i.prol, !llvm.loop !10

for_loop_body.i.prol.loopexit.loopexit:           ; preds = %for_loop_body.i.prol
  br label %for_loop_body.i.prol.loopexit

for_loop_body.i.prol.loopexit:                    ; preds = %for_loop_body.i.prol.loopexit.loopexit, %for_loop_body.i.preheader
  %indvars.iv.i.unr = phi i64 [ %indvars.iv.i.ph, %for_loop_body.i.preheader ], [ %indvars.iv.next.i.prol, %for_loop_body.i.prol.loopexit.loopexit ]
  %31 = icmp ult i64 %29, 7
  br i1 %31, label %difference_used_in_a_loop_body_1048590_0.exit, label %for_loop_body.i.preheader8

for_loop_body.i.preheader8:                       ; preds = %for_loop_body.i.prol.loopexit
  %scevgep = getelementptr float, float* %8, i64 7
  br label %for_loop_body.i

for_loop_body.i:                                  ; preds = %for_loop_body.i.preheader8, %for_loop_body.i
  %indvars.iv.i = phi i64 [ %indvars.iv.next.i.7, %for_loop_body.i ], [ %indvars.iv.i.unr, %for_loop_body.i.preheader8 ]
  %scevgep37 = getelementptr float, float* %5, i64 %indvars.iv.i
  %scevgep38 = getelementptr float, float* %scevgep37, i64 -1
  %32 = load float, float* %scevgep38, align 4
  %scevgep22 = getelementptr float, float* %scevgep, i64 %indvars.iv.i
  %scevgep23 = getelementptr float, float* %scevgep22, i64 -7
  store float %32, float* %scevgep23, align 4
  %33 = load float, float* %scevgep37, align 4
  %scevgep21 = getelementptr float, float* %scevgep22, i64 -6
  store float %33, float* %scevgep21, align 4
  %scevgep36 = getelementptr float, float* %scevgep37, i64 1
  %34 = load float, float* %scevgep36, align 4
  %scevgep19 = getelementptr float, float* %scevgep22, i64 -5
  store float %34, float* %scevgep19, align 4
  %scevgep33 = getelementptr float, float* %scevgep37, i64 2
  %35 = load float, float* %scevgep33, align 4
  %scevgep17 = getelementptr float, float* %scevgep22, i64 -4
  store float %35, float* %scevgep17, align 4
  %scevgep31 = getelementptr float, float* %scevgep37, i64 3
  %36 = load float, float* %scevgep31, align 4
  %scevgep15 = getelementptr float, float* %scevgep22, i64 -3
  store float %36, float* %scevgep15, align 4
  %scevgep29 = getelementptr float, float* %scevgep37, i64 4
  %37 = load float, float* %scevgep29, align 4
  %scevgep13 = getelementptr float, float* %scevgep22, i64 -2
  store float %37, float* %scevgep13, align 4
  %scevgep27 = getelementptr float, float* %scevgep37, i64 5
  %38 = load float, float* %scevgep27, align 4
  %scevgep11 = getelementptr float, float* %scevgep22, i64 -1
  store float %38, float* %scevgep11, align 4
  %scevgep25 = getelementptr float, float* %scevgep37, i64 6
  %39 = load float, float* %scevgep25, align 4
  store float %39, float* %scevgep22, align 4
  %indvars.iv.next.i.7 = add nuw nsw i64 %indvars.iv.i, 8
  %exitcond.not.i.7 = icmp eq i64 %wide.trip.count.i, %indvars.iv.next.i.7
  br i1 %exitcond.not.i.7, label %difference_used_in_a_loop_body_1048590_0.exit.loopexit, label %for_loop_body.i, !llvm.loop !11

difference_used_in_a_loop_body_1048590_0.exit.loopexit: ; preds = %for_loop_body.i
  br label %difference_used_in_a_loop_body_1048590_0.exit

difference_used_in_a_loop_body_1048590_0.exit:    ; preds = %difference_used_in_a_loop_body_1048590_0.exit.loopexit, %for_loop_body.i.prol.loopexit, %middle.block, %entry
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
!6 = distinct !{!6, !7}
!7 = !{!"llvm.loop.isvectorized", i32 1}
!8 = distinct !{!8, !9}
!9 = !{!"llvm.loop.unroll.disable"}
!10 = distinct !{!10, !9}
!11 = distinct !{!11, !7}
