; ModuleID = 'kernel'
source_filename = "kernel"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

%struct.RuntimeContext.14 = type { i8*, %struct.LLVMRuntime.13*, i32, i64* }
%struct.LLVMRuntime.13 = type { %struct.PreallocatedMemoryChunk.8, %struct.PreallocatedMemoryChunk.8, i8* (i8*, i64, i64)*, void (i8*)*, void (i8*, ...)*, i32 (i8*, i64, i8*, %struct.__va_list_tag.9*)*, i8*, [512 x i8*], [512 x i64], i8*, void (i8*, i32, i32, i8*, void (i8*, i32, i32)*)*, [1024 x %struct.ListManager.10*], [1024 x %struct.NodeManager.11*], [1024 x i8*], i8*, %struct.RandState.12*, i8*, void (i8*, i8*)*, void (i8*)*, [2048 x i8], [32 x i64], i32, i64, i8*, i32, i32, i64 }
%struct.PreallocatedMemoryChunk.8 = type { i8*, i8*, i64 }
%struct.__va_list_tag.9 = type { i32, i32, i8*, i8* }
%struct.ListManager.10 = type { [131072 x i8*], i64, i64, i32, i32, i32, %struct.LLVMRuntime.13* }
%struct.NodeManager.11 = type <{ %struct.LLVMRuntime.13*, i32, i32, i32, i32, %struct.ListManager.10*, %struct.ListManager.10*, %struct.ListManager.10*, i32, [4 x i8] }>
%struct.RandState.12 = type { i32, i32, i32, i32, i32 }

; Function Attrs: nofree norecurse nosync nounwind
define void @matrices_in_two_dimensions_c2_0_kernel_0_serial(%struct.RuntimeContext.14* nocapture readonly %context) local_unnamed_addr #0 {
entry:
  %0 = bitcast %struct.RuntimeContext.14* %context to { { { i32, i32 }, float* }, { { i32, i32 }, float* } }**
  %1 = load { { { i32, i32 }, float* }, { { i32, i32 }, float* } }*, { { { i32, i32 }, float* }, { { i32, i32 }, float* } }** %0, align 8
  %2 = getelementptr { { { i32, i32 }, float* }, { { i32, i32 }, float* } }, { { { i32, i32 }, float* }, { { i32, i32 }, float* } }* %1, i64 0, i32 0, i32 0, i32 0
  %3 = load i32, i32* %2, align 4
  %4 = getelementptr { { { i32, i32 }, float* }, { { i32, i32 }, float* } }, { { { i32, i32 }, float* }, { { i32, i32 }, float* } }* %1, i64 0, i32 0, i32 0, i32 1
  %5 = load i32, i32* %4, align 4
  %6 = getelementptr { { { i32, i32 }, float* }, { { i32, i32 }, float* } }, { { { i32, i32 }, float* }, { { i32, i32 }, float* } }* %1, i64 0, i32 0, i32 1
  %7 = load float*, float** %6, align 8
  %8 = getelementptr { { { i32, i32 }, float* }, { { i32, i32 }, float* } }, { { { i32, i32 }, float* }, { { i32, i32 }, float* } }* %1, i64 0, i32 1, i32 0, i32 1
  %9 = load i32, i32* %8, align 4
  %10 = getelementptr { { { i32, i32 }, float* }, { { i32, i32 }, float* } }, { { { i32, i32 }, float* }, { { i32, i32 }, float* } }* %1, i64 0, i32 1, i32 1
  %11 = load float*, float** %10, align 8
  %12 = icmp sgt i32 %3, 0
  %13 = icmp sgt i32 %5, 0
  %or.cond = select i1 %12, i1 %13, i1 false
  br i1 %or.cond, label %for_loop_body.i.us.preheader, label %matrices_in_two_dimensions_body_1048578_0.exit

for_loop_body.i.us.preheader:                     ; preds = %entry
  %14 = zext i32 %5 to i64
  %15 = add nsw i64 %14, -1
  %16 = shl i32 %9, 1
  %17 = shl i32 %5, 2
  %scevgep = getelementptr float, float* %11, i64 1
  %scevgep31 = getelementptr float, float* %7, i64 3
  %scevgep37 = getelementptr float, float* %7, i64 2
  %scevgep43 = getelementptr float, float* %7, i64 1
  %18 = shl nuw nsw i64 %14, 1
  %scevgep56 = getelementptr float, float* %11, i64 %18
  %19 = shl nuw nsw i64 %14, 2
  %scevgep61 = getelementptr float, float* %7, i64 %19
  %20 = and i64 %14, 4294967288
  %21 = add nsw i64 %20, -8
  %22 = lshr exact i64 %21, 3
  %23 = add nuw nsw i64 %22, 1
  %min.iters.check = icmp ult i32 %5, 24
  %24 = trunc i64 %15 to i32
  %mul = call { i32, i1 } @llvm.umul.with.overflow.i32(i32 %24, i32 2)
  %mul.result = extractvalue { i32, i1 } %mul, 0
  %mul.overflow = extractvalue { i32, i1 } %mul, 1
  %25 = icmp ugt i64 %15, 4294967295
  %mul9 = call { i32, i1 } @llvm.umul.with.overflow.i32(i32 %24, i32 4)
  %mul.result10 = extractvalue { i32, i1 } %mul9, 0
  %mul.overflow11 = extractvalue { i32, i1 } %mul9, 1
  %mul22 = call { i64, i1 } @llvm.umul.with.overflow.i64(i64 %15, i64 8)
  %mul.result23 = extractvalue { i64, i1 } %mul22, 0
  %mul.overflow24 = extractvalue { i64, i1 } %mul22, 1
  %mul33 = call { i64, i1 } @llvm.umul.with.overflow.i64(i64 %15, i64 16)
  %mul.result34 = extractvalue { i64, i1 } %mul33, 0
  %mul.overflow35 = extractvalue { i64, i1 } %mul33, 1
  %xtraiter = and i64 %23, 7
  %26 = icmp ult i64 %21, 56
  %unroll_iter = and i64 %23, 4611686018427387896
  %27 = getelementptr float, float* %7, i64 -3
  %28 = getelementptr float, float* %11, i64 -1
  %lcmp.mod.not = icmp eq i64 %xtraiter, 0
  %cmp.n = icmp eq i64 %20, %14
  %xtraiter71 = and i64 %14, 7
  %lcmp.mod72.not = icmp eq i64 %xtraiter71, 0
  %29 = sub i64 0, %xtraiter71
  %30 = zext i32 %3 to i64
  br label %for_loop_body.i.us

for_loop_body.i.us:                               ; preds = %for_loop_body.i.us.preheader, %after_for3.i.loopexit.us
  %indvars.iv = phi i64 [ 0, %for_loop_body.i.us.preheader ], [ %indvars.iv.next, %after_for3.i.loopexit.us ]
  %lsr.iv102 = phi i32 [ 14, %for_loop_body.i.us.preheader ], [ %lsr.iv.next103, %after_for3.i.loopexit.us ]
  %lsr.iv98 = phi i32 [ 28, %for_loop_body.i.us.preheader ], [ %lsr.iv.next99, %after_for3.i.loopexit.us ]
  %lsr.iv86 = phi i32 [ 0, %for_loop_body.i.us.preheader ], [ %lsr.iv.next87, %after_for3.i.loopexit.us ]
  %lsr.iv82 = phi i32 [ 0, %for_loop_body.i.us.preheader ], [ %lsr.iv.next83, %after_for3.i.loopexit.us ]
  %lsr.iv76 = phi i32 [ 64, %for_loop_body.i.us.preheader ], [ %lsr.iv.next77, %after_for3.i.loopexit.us ]
  %lsr.iv = phi i32 [ 128, %for_loop_body.i.us.preheader ], [ %lsr.iv.next, %after_for3.i.loopexit.us ]
  %31 = trunc i64 %indvars.iv to i32
  %32 = mul i32 %16, %31
  %33 = sext i32 %32 to i64
  %scevgep54 = getelementptr float, float* %11, i64 %33
  %scevgep57 = getelementptr float, float* %scevgep56, i64 %33
  %34 = mul i32 %17, %31
  %35 = sext i32 %34 to i64
  %scevgep59 = getelementptr float, float* %7, i64 %35
  %scevgep62 = getelementptr float, float* %scevgep61, i64 %35
  br i1 %min.iters.check, label %for_loop_body1.i.us.preheader, label %vector.scevcheck

vector.scevcheck:                                 ; preds = %for_loop_body.i.us
  %scevgep4953 = bitcast float* %scevgep59 to i8*
  %scevgep44 = getelementptr float, float* %scevgep43, i64 %35
  %scevgep4448 = bitcast float* %scevgep44 to i8*
  %scevgep38 = getelementptr float, float* %scevgep37, i64 %35
  %scevgep3842 = bitcast float* %scevgep38 to i8*
  %scevgep32 = getelementptr float, float* %scevgep31, i64 %35
  %scevgep3236 = bitcast float* %scevgep32 to i8*
  %scevgep2630 = bitcast float* %scevgep54 to i8*
  %scevgep21 = getelementptr float, float* %scevgep, i64 %33
  %scevgep2125 = bitcast float* %scevgep21 to i8*
  %36 = or i32 %34, 3
  %37 = or i32 %34, 2
  %38 = or i32 %34, 1
  %39 = or i32 %32, 1
  %40 = add i32 %32, %mul.result
  %41 = icmp slt i32 %40, %32
  %42 = or i1 %41, %mul.overflow
  %43 = add i32 %39, %mul.result
  %44 = icmp slt i32 %43, %39
  %45 = or i1 %44, %mul.overflow
  %46 = or i1 %45, %25
  %47 = add i32 %34, %mul.result10
  %48 = icmp slt i32 %47, %34
  %49 = or i1 %48, %mul.overflow11
  %50 = add i32 %38, %mul.result10
  %51 = icmp slt i32 %50, %38
  %52 = or i1 %51, %mul.overflow11
  %53 = add i32 %37, %mul.result10
  %54 = icmp slt i32 %53, %37
  %55 = or i1 %54, %mul.overflow11
  %56 = add i32 %36, %mul.result10
  %57 = icmp slt i32 %56, %36
  %58 = or i1 %57, %mul.overflow11
  %59 = getelementptr i8, i8* %scevgep2125, i64 %mul.result23
  %60 = icmp ult i8* %59, %scevgep2125
  %61 = or i1 %60, %mul.overflow24
  %62 = getelementptr i8, i8* %scevgep2630, i64 %mul.result23
  %63 = icmp ult i8* %62, %scevgep2630
  %64 = or i1 %63, %mul.overflow24
  %65 = getelementptr i8, i8* %scevgep3236, i64 %mul.result34
  %66 = icmp ult i8* %65, %scevgep3236
  %67 = or i1 %66, %mul.overflow35
  %68 = getelementptr i8, i8* %scevgep3842, i64 %mul.result34
  %69 = icmp ult i8* %68, %scevgep3842
  %70 = or i1 %69, %mul.overflow35
  %71 = getelementptr i8, i8* %scevgep4448, i64 %mul.result34
  %72 = icmp ult i8* %71, %scevgep4448
  %73 = or i1 %72, %mul.overflow35
  %74 = getelementptr i8, i8* %scevgep4953, i64 %mul.result34
  %75 = icmp ult i8* %74, %scevgep4953
  %76 = or i1 %75, %mul.overflow35
  %77 = or i1 %42, %46
  %78 = or i1 %49, %77
  %79 = or i1 %52, %78
  %80 = or i1 %55, %79
  %81 = or i1 %58, %80
  %82 = or i1 %81, %61
  %83 = or i1 %82, %64
  %84 = or i1 %83, %67
  %85 = or i1 %84, %70
  %86 = or i1 %85, %73
  %87 = or i1 %86, %76
  br i1 %87, label %for_loop_body1.i.us.preheader, label %vector.memcheck

vector.memcheck:                                  ; preds = %vector.scevcheck
  %bound0 = icmp ult float* %scevgep54, %scevgep62
  %bound1 = icmp ult float* %scevgep59, %scevgep57
  %found.conflict = and i1 %bound0, %bound1
  br i1 %found.conflict, label %for_loop_body1.i.us.preheader, label %vector.ph

vector.ph:                                        ; preds = %vector.memcheck
  br i1 %26, label %middle.block.unr-lcssa, label %vector.body.preheader

vector.body.preheader:                            ; preds = %vector.ph
  br label %vector.body

vector.body:                                      ; preds = %vector.body.preheader, %vector.body
  %lsr.iv80 = phi i64 [ %unroll_iter, %vector.body.preheader ], [ %lsr.iv.next81, %vector.body ]
  %lsr.iv78 = phi i32 [ %lsr.iv76, %vector.body.preheader ], [ %lsr.iv.next79, %vector.body ]
  %lsr.iv74 = phi i32 [ %lsr.iv, %vector.body.preheader ], [ %lsr.iv.next75, %vector.body ]
  %index = phi i64 [ %index.next.7, %vector.body ], [ 0, %vector.body.preheader ]
  %88 = add i32 %lsr.iv74, -128
  %89 = sext i32 %88 to i64
  %90 = getelementptr float, float* %7, i64 %89
  %91 = bitcast float* %90 to <32 x float>*
  %wide.vec = load <32 x float>, <32 x float>* %91, align 4
  %strided.vec = shufflevector <32 x float> %wide.vec, <32 x float> poison, <8 x i32> <i32 0, i32 4, i32 8, i32 12, i32 16, i32 20, i32 24, i32 28>
  %strided.vec64 = shufflevector <32 x float> %wide.vec, <32 x float> poison, <8 x i32> <i32 1, i32 5, i32 9, i32 13, i32 17, i32 21, i32 25, i32 29>
  %strided.vec65 = shufflevector <32 x float> %wide.vec, <32 x float> poison, <8 x i32> <i32 2, i32 6, i32 10, i32 14, i32 18, i32 22, i32 26, i32 30>
  %strided.vec66 = shufflevector <32 x float> %wide.vec, <32 x float> poison, <8 x i32> <i32 3, i32 7, i32 11, i32 15, i32 19, i32 23, i32 27, i32 31>
  %92 = add i32 %lsr.iv74, -125
  %93 = sext i32 %92 to i64
  %94 = add i32 %lsr.iv78, -64
  %95 = sext i32 %94 to i64
  %96 = getelementptr float, float* %11, i64 %95
  %97 = bitcast float* %96 to <16 x float>*
  %wide.vec67 = load <16 x float>, <16 x float>* %97, align 4
  %strided.vec68 = shufflevector <16 x float> %wide.vec67, <16 x float> poison, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %strided.vec69 = shufflevector <16 x float> %wide.vec67, <16 x float> poison, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %98 = add i32 %lsr.iv78, -63
  %99 = sext i32 %98 to i64
  %100 = fmul reassoc ninf nsz <8 x float> %strided.vec68, %strided.vec
  %101 = fmul reassoc ninf nsz <8 x float> %strided.vec69, %strided.vec64
  %102 = fadd reassoc ninf nsz <8 x float> %101, %100
  %103 = fmul reassoc ninf nsz <8 x float> %strided.vec68, %strided.vec65
  %104 = fmul reassoc ninf nsz <8 x float> %strided.vec69, %strided.vec66
  %105 = fadd reassoc ninf nsz <8 x float> %104, %103
  %106 = getelementptr float, float* %28, i64 %99
  %107 = bitcast float* %106 to <16 x float>*
  %interleaved.vec = shufflevector <8 x float> %102, <8 x float> %105, <16 x i32> <i32 0, i32 8, i32 1, i32 9, i32 2, i32 10, i32 3, i32 11, i32 4, i32 12, i32 5, i32 13, i32 6, i32 14, i32 7, i32 15>
  store <16 x float> %interleaved.vec, <16 x float>* %107, align 4
  %108 = fmul reassoc ninf nsz <32 x float> %wide.vec, %wide.vec
  %109 = shufflevector <32 x float> %108, <32 x float> poison, <8 x i32> <i32 0, i32 4, i32 8, i32 12, i32 16, i32 20, i32 24, i32 28>
  %110 = fmul reassoc ninf nsz <8 x float> %strided.vec65, %strided.vec64
  %111 = fadd reassoc ninf nsz <8 x float> %110, %109
  %112 = fadd reassoc ninf nsz <8 x float> %strided.vec66, %strided.vec
  %113 = fmul reassoc ninf nsz <8 x float> %112, %strided.vec64
  %114 = fmul reassoc ninf nsz <8 x float> %112, %strided.vec65
  %115 = shufflevector <32 x float> %108, <32 x float> poison, <8 x i32> <i32 3, i32 7, i32 11, i32 15, i32 19, i32 23, i32 27, i32 31>
  %116 = fadd reassoc ninf nsz <8 x float> %115, %110
  %117 = getelementptr float, float* %27, i64 %93
  %118 = bitcast float* %117 to <32 x float>*
  %119 = shufflevector <8 x float> %111, <8 x float> %113, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %120 = shufflevector <8 x float> %114, <8 x float> %116, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %interleaved.vec70 = shufflevector <16 x float> %119, <16 x float> %120, <32 x i32> <i32 0, i32 8, i32 16, i32 24, i32 1, i32 9, i32 17, i32 25, i32 2, i32 10, i32 18, i32 26, i32 3, i32 11, i32 19, i32 27, i32 4, i32 12, i32 20, i32 28, i32 5, i32 13, i32 21, i32 29, i32 6, i32 14, i32 22, i32 30, i32 7, i32 15, i32 23, i32 31>
  store <32 x float> %interleaved.vec70, <32 x float>* %118, align 4
  %121 = add i32 %lsr.iv74, -96
  %122 = sext i32 %121 to i64
  %123 = getelementptr float, float* %7, i64 %122
  %124 = bitcast float* %123 to <32 x float>*
  %wide.vec.1 = load <32 x float>, <32 x float>* %124, align 4
  %strided.vec.1 = shufflevector <32 x float> %wide.vec.1, <32 x float> poison, <8 x i32> <i32 0, i32 4, i32 8, i32 12, i32 16, i32 20, i32 24, i32 28>
  %strided.vec64.1 = shufflevector <32 x float> %wide.vec.1, <32 x float> poison, <8 x i32> <i32 1, i32 5, i32 9, i32 13, i32 17, i32 21, i32 25, i32 29>
  %strided.vec65.1 = shufflevector <32 x float> %wide.vec.1, <32 x float> poison, <8 x i32> <i32 2, i32 6, i32 10, i32 14, i32 18, i32 22, i32 26, i32 30>
  %strided.vec66.1 = shufflevector <32 x float> %wide.vec.1, <32 x float> poison, <8 x i32> <i32 3, i32 7, i32 11, i32 15, i32 19, i32 23, i32 27, i32 31>
  %125 = add i32 %lsr.iv74, -93
  %126 = sext i32 %125 to i64
  %127 = add i32 %lsr.iv78, -48
  %128 = sext i32 %127 to i64
  %129 = getelementptr float, float* %11, i64 %128
  %130 = bitcast float* %129 to <16 x float>*
  %wide.vec67.1 = load <16 x float>, <16 x float>* %130, align 4
  %strided.vec68.1 = shufflevector <16 x float> %wide.vec67.1, <16 x float> poison, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %strided.vec69.1 = shufflevector <16 x float> %wide.vec67.1, <16 x float> poison, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %131 = add i32 %lsr.iv78, -47
  %132 = sext i32 %131 to i64
  %133 = fmul reassoc ninf nsz <8 x float> %strided.vec68.1, %strided.vec.1
  %134 = fmul reassoc ninf nsz <8 x float> %strided.vec69.1, %strided.vec64.1
  %135 = fadd reassoc ninf nsz <8 x float> %134, %133
  %136 = fmul reassoc ninf nsz <8 x float> %strided.vec68.1, %strided.vec65.1
  %137 = fmul reassoc ninf nsz <8 x float> %strided.vec69.1, %strided.vec66.1
  %138 = fadd reassoc ninf nsz <8 x float> %137, %136
  %139 = getelementptr float, float* %28, i64 %132
  %140 = bitcast float* %139 to <16 x float>*
  %interleaved.vec.1 = shufflevector <8 x float> %135, <8 x float> %138, <16 x i32> <i32 0, i32 8, i32 1, i32 9, i32 2, i32 10, i32 3, i32 11, i32 4, i32 12, i32 5, i32 13, i32 6, i32 14, i32 7, i32 15>
  store <16 x float> %interleaved.vec.1, <16 x float>* %140, align 4
  %141 = fmul reassoc ninf nsz <32 x float> %wide.vec.1, %wide.vec.1
  %142 = shufflevector <32 x float> %141, <32 x float> poison, <8 x i32> <i32 0, i32 4, i32 8, i32 12, i32 16, i32 20, i32 24, i32 28>
  %143 = fmul reassoc ninf nsz <8 x float> %strided.vec65.1, %strided.vec64.1
  %144 = fadd reassoc ninf nsz <8 x float> %143, %142
  %145 = fadd reassoc ninf nsz <8 x float> %strided.vec66.1, %strided.vec.1
  %146 = fmul reassoc ninf nsz <8 x float> %145, %strided.vec64.1
  %147 = fmul reassoc ninf nsz <8 x float> %145, %strided.vec65.1
  %148 = shufflevector <32 x float> %141, <32 x float> poison, <8 x i32> <i32 3, i32 7, i32 11, i32 15, i32 19, i32 23, i32 27, i32 31>
  %149 = fadd reassoc ninf nsz <8 x float> %148, %143
  %150 = getelementptr float, float* %27, i64 %126
  %151 = bitcast float* %150 to <32 x float>*
  %152 = shufflevector <8 x float> %144, <8 x float> %146, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %153 = shufflevector <8 x float> %147, <8 x float> %149, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %interleaved.vec70.1 = shufflevector <16 x float> %152, <16 x float> %153, <32 x i32> <i32 0, i32 8, i32 16, i32 24, i32 1, i32 9, i32 17, i32 25, i32 2, i32 10, i32 18, i32 26, i32 3, i32 11, i32 19, i32 27, i32 4, i32 12, i32 20, i32 28, i32 5, i32 13, i32 21, i32 29, i32 6, i32 14, i32 22, i32 30, i32 7, i32 15, i32 23, i32 31>
  store <32 x float> %interleaved.vec70.1, <32 x float>* %151, align 4
  %154 = add i32 %lsr.iv74, -64
  %155 = sext i32 %154 to i64
  %156 = getelementptr float, float* %7, i64 %155
  %157 = bitcast float* %156 to <32 x float>*
  %wide.vec.2 = load <32 x float>, <32 x float>* %157, align 4
  %strided.vec.2 = shufflevector <32 x float> %wide.vec.2, <32 x float> poison, <8 x i32> <i32 0, i32 4, i32 8, i32 12, i32 16, i32 20, i32 24, i32 28>
  %strided.vec64.2 = shufflevector <32 x float> %wide.vec.2, <32 x float> poison, <8 x i32> <i32 1, i32 5, i32 9, i32 13, i32 17, i32 21, i32 25, i32 29>
  %strided.vec65.2 = shufflevector <32 x float> %wide.vec.2, <32 x float> poison, <8 x i32> <i32 2, i32 6, i32 10, i32 14, i32 18, i32 22, i32 26, i32 30>
  %strided.vec66.2 = shufflevector <32 x float> %wide.vec.2, <32 x float> poison, <8 x i32> <i32 3, i32 7, i32 11, i32 15, i32 19, i32 23, i32 27, i32 31>
  %158 = add i32 %lsr.iv74, -61
  %159 = sext i32 %158 to i64
  %160 = add i32 %lsr.iv78, -32
  %161 = sext i32 %160 to i64
  %162 = getelementptr float, float* %11, i64 %161
  %163 = bitcast float* %162 to <16 x float>*
  %wide.vec67.2 = load <16 x float>, <16 x float>* %163, align 4
  %strided.vec68.2 = shufflevector <16 x float> %wide.vec67.2, <16 x float> poison, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %strided.vec69.2 = shufflevector <16 x float> %wide.vec67.2, <16 x float> poison, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %164 = add i32 %lsr.iv78, -31
  %165 = sext i32 %164 to i64
  %166 = fmul reassoc ninf nsz <8 x float> %strided.vec68.2, %strided.vec.2
  %167 = fmul reassoc ninf nsz <8 x float> %strided.vec69.2, %strided.vec64.2
  %168 = fadd reassoc ninf nsz <8 x float> %167, %166
  %169 = fmul reassoc ninf nsz <8 x float> %strided.vec68.2, %strided.vec65.2
  %170 = fmul reassoc ninf nsz <8 x float> %strided.vec69.2, %strided.vec66.2
  %171 = fadd reassoc ninf nsz <8 x float> %170, %169
  %172 = getelementptr float, float* %28, i64 %165
  %173 = bitcast float* %172 to <16 x float>*
  %interleaved.vec.2 = shufflevector <8 x float> %168, <8 x float> %171, <16 x i32> <i32 0, i32 8, i32 1, i32 9, i32 2, i32 10, i32 3, i32 11, i32 4, i32 12, i32 5, i32 13, i32 6, i32 14, i32 7, i32 15>
  store <16 x float> %interleaved.vec.2, <16 x float>* %173, align 4
  %174 = fmul reassoc ninf nsz <32 x float> %wide.vec.2, %wide.vec.2
  %175 = shufflevector <32 x float> %174, <32 x float> poison, <8 x i32> <i32 0, i32 4, i32 8, i32 12, i32 16, i32 20, i32 24, i32 28>
  %176 = fmul reassoc ninf nsz <8 x float> %strided.vec65.2, %strided.vec64.2
  %177 = fadd reassoc ninf nsz <8 x float> %176, %175
  %178 = fadd reassoc ninf nsz <8 x float> %strided.vec66.2, %strided.vec.2
  %179 = fmul reassoc ninf nsz <8 x float> %178, %strided.vec64.2
  %180 = fmul reassoc ninf nsz <8 x float> %178, %strided.vec65.2
  %181 = shufflevector <32 x float> %174, <32 x float> poison, <8 x i32> <i32 3, i32 7, i32 11, i32 15, i32 19, i32 23, i32 27, i32 31>
  %182 = fadd reassoc ninf nsz <8 x float> %181, %176
  %183 = getelementptr float, float* %27, i64 %159
  %184 = bitcast float* %183 to <32 x float>*
  %185 = shufflevector <8 x float> %177, <8 x float> %179, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %186 = shufflevector <8 x float> %180, <8 x float> %182, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %interleaved.vec70.2 = shufflevector <16 x float> %185, <16 x float> %186, <32 x i32> <i32 0, i32 8, i32 16, i32 24, i32 1, i32 9, i32 17, i32 25, i32 2, i32 10, i32 18, i32 26, i32 3, i32 11, i32 19, i32 27, i32 4, i32 12, i32 20, i32 28, i32 5, i32 13, i32 21, i32 29, i32 6, i32 14, i32 22, i32 30, i32 7, i32 15, i32 23, i32 31>
  store <32 x float> %interleaved.vec70.2, <32 x float>* %184, align 4
  %187 = add i32 %lsr.iv74, -32
  %188 = sext i32 %187 to i64
  %189 = getelementptr float, float* %7, i64 %188
  %190 = bitcast float* %189 to <32 x float>*
  %wide.vec.3 = load <32 x float>, <32 x float>* %190, align 4
  %strided.vec.3 = shufflevector <32 x float> %wide.vec.3, <32 x float> poison, <8 x i32> <i32 0, i32 4, i32 8, i32 12, i32 16, i32 20, i32 24, i32 28>
  %strided.vec64.3 = shufflevector <32 x float> %wide.vec.3, <32 x float> poison, <8 x i32> <i32 1, i32 5, i32 9, i32 13, i32 17, i32 21, i32 25, i32 29>
  %strided.vec65.3 = shufflevector <32 x float> %wide.vec.3, <32 x float> poison, <8 x i32> <i32 2, i32 6, i32 10, i32 14, i32 18, i32 22, i32 26, i32 30>
  %strided.vec66.3 = shufflevector <32 x float> %wide.vec.3, <32 x float> poison, <8 x i32> <i32 3, i32 7, i32 11, i32 15, i32 19, i32 23, i32 27, i32 31>
  %191 = add i32 %lsr.iv74, -29
  %192 = sext i32 %191 to i64
  %193 = add i32 %lsr.iv78, -16
  %194 = sext i32 %193 to i64
  %195 = getelementptr float, float* %11, i64 %194
  %196 = bitcast float* %195 to <16 x float>*
  %wide.vec67.3 = load <16 x float>, <16 x float>* %196, align 4
  %strided.vec68.3 = shufflevector <16 x float> %wide.vec67.3, <16 x float> poison, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %strided.vec69.3 = shufflevector <16 x float> %wide.vec67.3, <16 x float> poison, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %197 = add i32 %lsr.iv78, -15
  %198 = sext i32 %197 to i64
  %199 = fmul reassoc ninf nsz <8 x float> %strided.vec68.3, %strided.vec.3
  %200 = fmul reassoc ninf nsz <8 x float> %strided.vec69.3, %strided.vec64.3
  %201 = fadd reassoc ninf nsz <8 x float> %200, %199
  %202 = fmul reassoc ninf nsz <8 x float> %strided.vec68.3, %strided.vec65.3
  %203 = fmul reassoc ninf nsz <8 x float> %strided.vec69.3, %strided.vec66.3
  %204 = fadd reassoc ninf nsz <8 x float> %203, %202
  %205 = getelementptr float, float* %28, i64 %198
  %206 = bitcast float* %205 to <16 x float>*
  %interleaved.vec.3 = shufflevector <8 x float> %201, <8 x float> %204, <16 x i32> <i32 0, i32 8, i32 1, i32 9, i32 2, i32 10, i32 3, i32 11, i32 4, i32 12, i32 5, i32 13, i32 6, i32 14, i32 7, i32 15>
  store <16 x float> %interleaved.vec.3, <16 x float>* %206, align 4
  %207 = fmul reassoc ninf nsz <32 x float> %wide.vec.3, %wide.vec.3
  %208 = shufflevector <32 x float> %207, <32 x float> poison, <8 x i32> <i32 0, i32 4, i32 8, i32 12, i32 16, i32 20, i32 24, i32 28>
  %209 = fmul reassoc ninf nsz <8 x float> %strided.vec65.3, %strided.vec64.3
  %210 = fadd reassoc ninf nsz <8 x float> %209, %208
  %211 = fadd reassoc ninf nsz <8 x float> %strided.vec66.3, %strided.vec.3
  %212 = fmul reassoc ninf nsz <8 x float> %211, %strided.vec64.3
  %213 = fmul reassoc ninf nsz <8 x float> %211, %strided.vec65.3
  %214 = shufflevector <32 x float> %207, <32 x float> poison, <8 x i32> <i32 3, i32 7, i32 11, i32 15, i32 19, i32 23, i32 27, i32 31>
  %215 = fadd reassoc ninf nsz <8 x float> %214, %209
  %216 = getelementptr float, float* %27, i64 %192
  %217 = bitcast float* %216 to <32 x float>*
  %218 = shufflevector <8 x float> %210, <8 x float> %212, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %219 = shufflevector <8 x float> %213, <8 x float> %215, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %interleaved.vec70.3 = shufflevector <16 x float> %218, <16 x float> %219, <32 x i32> <i32 0, i32 8, i32 16, i32 24, i32 1, i32 9, i32 17, i32 25, i32 2, i32 10, i32 18, i32 26, i32 3, i32 11, i32 19, i32 27, i32 4, i32 12, i32 20, i32 28, i32 5, i32 13, i32 21, i32 29, i32 6, i32 14, i32 22, i32 30, i32 7, i32 15, i32 23, i32 31>
  store <32 x float> %interleaved.vec70.3, <32 x float>* %217, align 4
  %220 = sext i32 %lsr.iv74 to i64
  %221 = getelementptr float, float* %7, i64 %220
  %222 = bitcast float* %221 to <32 x float>*
  %wide.vec.4 = load <32 x float>, <32 x float>* %222, align 4
  %strided.vec.4 = shufflevector <32 x float> %wide.vec.4, <32 x float> poison, <8 x i32> <i32 0, i32 4, i32 8, i32 12, i32 16, i32 20, i32 24, i32 28>
  %strided.vec64.4 = shufflevector <32 x float> %wide.vec.4, <32 x float> poison, <8 x i32> <i32 1, i32 5, i32 9, i32 13, i32 17, i32 21, i32 25, i32 29>
  %strided.vec65.4 = shufflevector <32 x float> %wide.vec.4, <32 x float> poison, <8 x i32> <i32 2, i32 6, i32 10, i32 14, i32 18, i32 22, i32 26, i32 30>
  %strided.vec66.4 = shufflevector <32 x float> %wide.vec.4, <32 x float> poison, <8 x i32> <i32 3, i32 7, i32 11, i32 15, i32 19, i32 23, i32 27, i32 31>
  %223 = add i32 %lsr.iv74, 3
  %224 = sext i32 %223 to i64
  %225 = sext i32 %lsr.iv78 to i64
  %226 = getelementptr float, float* %11, i64 %225
  %227 = bitcast float* %226 to <16 x float>*
  %wide.vec67.4 = load <16 x float>, <16 x float>* %227, align 4
  %strided.vec68.4 = shufflevector <16 x float> %wide.vec67.4, <16 x float> poison, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %strided.vec69.4 = shufflevector <16 x float> %wide.vec67.4, <16 x float> poison, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %228 = add i32 %lsr.iv78, 1
  %229 = sext i32 %228 to i64
  %230 = fmul reassoc ninf nsz <8 x float> %strided.vec68.4, %strided.vec.4
  %231 = fmul reassoc ninf nsz <8 x float> %strided.vec69.4, %strided.vec64.4
  %232 = fadd reassoc ninf nsz <8 x float> %231, %230
  %233 = fmul reassoc ninf nsz <8 x float> %strided.vec68.4, %strided.vec65.4
  %234 = fmul reassoc ninf nsz <8 x float> %strided.vec69.4, %strided.vec66.4
  %235 = fadd reassoc ninf nsz <8 x float> %234, %233
  %236 = getelementptr float, float* %28, i64 %229
  %237 = bitcast float* %236 to <16 x float>*
  %interleaved.vec.4 = shufflevector <8 x float> %232, <8 x float> %235, <16 x i32> <i32 0, i32 8, i32 1, i32 9, i32 2, i32 10, i32 3, i32 11, i32 4, i32 12, i32 5, i32 13, i32 6, i32 14, i32 7, i32 15>
  store <16 x float> %interleaved.vec.4, <16 x float>* %237, align 4
  %238 = fmul reassoc ninf nsz <32 x float> %wide.vec.4, %wide.vec.4
  %239 = shufflevector <32 x float> %238, <32 x float> poison, <8 x i32> <i32 0, i32 4, i32 8, i32 12, i32 16, i32 20, i32 24, i32 28>
  %240 = fmul reassoc ninf nsz <8 x float> %strided.vec65.4, %strided.vec64.4
  %241 = fadd reassoc ninf nsz <8 x float> %240, %239
  %242 = fadd reassoc ninf nsz <8 x float> %strided.vec66.4, %strided.vec.4
  %243 = fmul reassoc ninf nsz <8 x float> %242, %strided.vec64.4
  %244 = fmul reassoc ninf nsz <8 x float> %242, %strided.vec65.4
  %245 = shufflevector <32 x float> %238, <32 x float> poison, <8 x i32> <i32 3, i32 7, i32 11, i32 15, i32 19, i32 23, i32 27, i32 31>
  %246 = fadd reassoc ninf nsz <8 x float> %245, %240
  %247 = getelementptr float, float* %27, i64 %224
  %248 = bitcast float* %247 to <32 x float>*
  %249 = shufflevector <8 x float> %241, <8 x float> %243, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %250 = shufflevector <8 x float> %244, <8 x float> %246, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %interleaved.vec70.4 = shufflevector <16 x float> %249, <16 x float> %250, <32 x i32> <i32 0, i32 8, i32 16, i32 24, i32 1, i32 9, i32 17, i32 25, i32 2, i32 10, i32 18, i32 26, i32 3, i32 11, i32 19, i32 27, i32 4, i32 12, i32 20, i32 28, i32 5, i32 13, i32 21, i32 29, i32 6, i32 14, i32 22, i32 30, i32 7, i32 15, i32 23, i32 31>
  store <32 x float> %interleaved.vec70.4, <32 x float>* %248, align 4
  %251 = add i32 %lsr.iv74, 32
  %252 = sext i32 %251 to i64
  %253 = getelementptr float, float* %7, i64 %252
  %254 = bitcast float* %253 to <32 x float>*
  %wide.vec.5 = load <32 x float>, <32 x float>* %254, align 4
  %strided.vec.5 = shufflevector <32 x float> %wide.vec.5, <32 x float> poison, <8 x i32> <i32 0, i32 4, i32 8, i32 12, i32 16, i32 20, i32 24, i32 28>
  %strided.vec64.5 = shufflevector <32 x float> %wide.vec.5, <32 x float> poison, <8 x i32> <i32 1, i32 5, i32 9, i32 13, i32 17, i32 21, i32 25, i32 29>
  %strided.vec65.5 = shufflevector <32 x float> %wide.vec.5, <32 x float> poison, <8 x i32> <i32 2, i32 6, i32 10, i32 14, i32 18, i32 22, i32 26, i32 30>
  %strided.vec66.5 = shufflevector <32 x float> %wide.vec.5, <32 x float> poison, <8 x i32> <i32 3, i32 7, i32 11, i32 15, i32 19, i32 23, i32 27, i32 31>
  %255 = add i32 %lsr.iv74, 35
  %256 = sext i32 %255 to i64
  %257 = add i32 %lsr.iv78, 16
  %258 = sext i32 %257 to i64
  %259 = getelementptr float, float* %11, i64 %258
  %260 = bitcast float* %259 to <16 x float>*
  %wide.vec67.5 = load <16 x float>, <16 x float>* %260, align 4
  %strided.vec68.5 = shufflevector <16 x float> %wide.vec67.5, <16 x float> poison, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %strided.vec69.5 = shufflevector <16 x float> %wide.vec67.5, <16 x float> poison, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %261 = add i32 %lsr.iv78, 17
  %262 = sext i32 %261 to i64
  %263 = fmul reassoc ninf nsz <8 x float> %strided.vec68.5, %strided.vec.5
  %264 = fmul reassoc ninf nsz <8 x float> %strided.vec69.5, %strided.vec64.5
  %265 = fadd reassoc ninf nsz <8 x float> %264, %263
  %266 = fmul reassoc ninf nsz <8 x float> %strided.vec68.5, %strided.vec65.5
  %267 = fmul reassoc ninf nsz <8 x float> %strided.vec69.5, %strided.vec66.5
  %268 = fadd reassoc ninf nsz <8 x float> %267, %266
  %269 = getelementptr float, float* %28, i64 %262
  %270 = bitcast float* %269 to <16 x float>*
  %interleaved.vec.5 = shufflevector <8 x float> %265, <8 x float> %268, <16 x i32> <i32 0, i32 8, i32 1, i32 9, i32 2, i32 10, i32 3, i32 11, i32 4, i32 12, i32 5, i32 13, i32 6, i32 14, i32 7, i32 15>
  store <16 x float> %interleaved.vec.5, <16 x float>* %270, align 4
  %271 = fmul reassoc ninf nsz <32 x float> %wide.vec.5, %wide.vec.5
  %272 = shufflevector <32 x float> %271, <32 x float> poison, <8 x i32> <i32 0, i32 4, i32 8, i32 12, i32 16, i32 20, i32 24, i32 28>
  %273 = fmul reassoc ninf nsz <8 x float> %strided.vec65.5, %strided.vec64.5
  %274 = fadd reassoc ninf nsz <8 x float> %273, %272
  %275 = fadd reassoc ninf nsz <8 x float> %strided.vec66.5, %strided.vec.5
  %276 = fmul reassoc ninf nsz <8 x float> %275, %strided.vec64.5
  %277 = fmul reassoc ninf nsz <8 x float> %275, %strided.vec65.5
  %278 = shufflevector <32 x float> %271, <32 x float> poison, <8 x i32> <i32 3, i32 7, i32 11, i32 15, i32 19, i32 23, i32 27, i32 31>
  %279 = fadd reassoc ninf nsz <8 x float> %278, %273
  %280 = getelementptr float, float* %27, i64 %256
  %281 = bitcast float* %280 to <32 x float>*
  %282 = shufflevector <8 x float> %274, <8 x float> %276, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %283 = shufflevector <8 x float> %277, <8 x float> %279, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %interleaved.vec70.5 = shufflevector <16 x float> %282, <16 x float> %283, <32 x i32> <i32 0, i32 8, i32 16, i32 24, i32 1, i32 9, i32 17, i32 25, i32 2, i32 10, i32 18, i32 26, i32 3, i32 11, i32 19, i32 27, i32 4, i32 12, i32 20, i32 28, i32 5, i32 13, i32 21, i32 29, i32 6, i32 14, i32 22, i32 30, i32 7, i32 15, i32 23, i32 31>
  store <32 x float> %interleaved.vec70.5, <32 x float>* %281, align 4
  %284 = add i32 %lsr.iv74, 64
  %285 = sext i32 %284 to i64
  %286 = getelementptr float, float* %7, i64 %285
  %287 = bitcast float* %286 to <32 x float>*
  %wide.vec.6 = load <32 x float>, <32 x float>* %287, align 4
  %strided.vec.6 = shufflevector <32 x float> %wide.vec.6, <32 x float> poison, <8 x i32> <i32 0, i32 4, i32 8, i32 12, i32 16, i32 20, i32 24, i32 28>
  %strided.vec64.6 = shufflevector <32 x float> %wide.vec.6, <32 x float> poison, <8 x i32> <i32 1, i32 5, i32 9, i32 13, i32 17, i32 21, i32 25, i32 29>
  %strided.vec65.6 = shufflevector <32 x float> %wide.vec.6, <32 x float> poison, <8 x i32> <i32 2, i32 6, i32 10, i32 14, i32 18, i32 22, i32 26, i32 30>
  %strided.vec66.6 = shufflevector <32 x float> %wide.vec.6, <32 x float> poison, <8 x i32> <i32 3, i32 7, i32 11, i32 15, i32 19, i32 23, i32 27, i32 31>
  %288 = add i32 %lsr.iv74, 67
  %289 = sext i32 %288 to i64
  %290 = add i32 %lsr.iv78, 32
  %291 = sext i32 %290 to i64
  %292 = getelementptr float, float* %11, i64 %291
  %293 = bitcast float* %292 to <16 x float>*
  %wide.vec67.6 = load <16 x float>, <16 x float>* %293, align 4
  %strided.vec68.6 = shufflevector <16 x float> %wide.vec67.6, <16 x float> poison, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %strided.vec69.6 = shufflevector <16 x float> %wide.vec67.6, <16 x float> poison, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %294 = add i32 %lsr.iv78, 33
  %295 = sext i32 %294 to i64
  %296 = fmul reassoc ninf nsz <8 x float> %strided.vec68.6, %strided.vec.6
  %297 = fmul reassoc ninf nsz <8 x float> %strided.vec69.6, %strided.vec64.6
  %298 = fadd reassoc ninf nsz <8 x float> %297, %296
  %299 = fmul reassoc ninf nsz <8 x float> %strided.vec68.6, %strided.vec65.6
  %300 = fmul reassoc ninf nsz <8 x float> %strided.vec69.6, %strided.vec66.6
  %301 = fadd reassoc ninf nsz <8 x float> %300, %299
  %302 = getelementptr float, float* %28, i64 %295
  %303 = bitcast float* %302 to <16 x float>*
  %interleaved.vec.6 = shufflevector <8 x float> %298, <8 x float> %301, <16 x i32> <i32 0, i32 8, i32 1, i32 9, i32 2, i32 10, i32 3, i32 11, i32 4, i32 12, i32 5, i32 13, i32 6, i32 14, i32 7, i32 15>
  store <16 x float> %interleaved.vec.6, <16 x float>* %303, align 4
  %304 = fmul reassoc ninf nsz <32 x float> %wide.vec.6, %wide.vec.6
  %305 = shufflevector <32 x float> %304, <32 x float> poison, <8 x i32> <i32 0, i32 4, i32 8, i32 12, i32 16, i32 20, i32 24, i32 28>
  %306 = fmul reassoc ninf nsz <8 x float> %strided.vec65.6, %strided.vec64.6
  %307 = fadd reassoc ninf nsz <8 x float> %306, %305
  %308 = fadd reassoc ninf nsz <8 x float> %strided.vec66.6, %strided.vec.6
  %309 = fmul reassoc ninf nsz <8 x float> %308, %strided.vec64.6
  %310 = fmul reassoc ninf nsz <8 x float> %308, %strided.vec65.6
  %311 = shufflevector <32 x float> %304, <32 x float> poison, <8 x i32> <i32 3, i32 7, i32 11, i32 15, i32 19, i32 23, i32 27, i32 31>
  %312 = fadd reassoc ninf nsz <8 x float> %311, %306
  %313 = getelementptr float, float* %27, i64 %289
  %314 = bitcast float* %313 to <32 x float>*
  %315 = shufflevector <8 x float> %307, <8 x float> %309, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %316 = shufflevector <8 x float> %310, <8 x float> %312, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %interleaved.vec70.6 = shufflevector <16 x float> %315, <16 x float> %316, <32 x i32> <i32 0, i32 8, i32 16, i32 24, i32 1, i32 9, i32 17, i32 25, i32 2, i32 10, i32 18, i32 26, i32 3, i32 11, i32 19, i32 27, i32 4, i32 12, i32 20, i32 28, i32 5, i32 13, i32 21, i32 29, i32 6, i32 14, i32 22, i32 30, i32 7, i32 15, i32 23, i32 31>
  store <32 x float> %interleaved.vec70.6, <32 x float>* %314, align 4
  %317 = add i32 %lsr.iv74, 96
  %318 = sext i32 %317 to i64
  %319 = getelementptr float, float* %7, i64 %318
  %320 = bitcast float* %319 to <32 x float>*
  %wide.vec.7 = load <32 x float>, <32 x float>* %320, align 4
  %strided.vec.7 = shufflevector <32 x float> %wide.vec.7, <32 x float> poison, <8 x i32> <i32 0, i32 4, i32 8, i32 12, i32 16, i32 20, i32 24, i32 28>
  %strided.vec64.7 = shufflevector <32 x float> %wide.vec.7, <32 x float> poison, <8 x i32> <i32 1, i32 5, i32 9, i32 13, i32 17, i32 21, i32 25, i32 29>
  %strided.vec65.7 = shufflevector <32 x float> %wide.vec.7, <32 x float> poison, <8 x i32> <i32 2, i32 6, i32 10, i32 14, i32 18, i32 22, i32 26, i32 30>
  %strided.vec66.7 = shufflevector <32 x float> %wide.vec.7, <32 x float> poison, <8 x i32> <i32 3, i32 7, i32 11, i32 15, i32 19, i32 23, i32 27, i32 31>
  %321 = add i32 %lsr.iv74, 99
  %322 = sext i32 %321 to i64
  %323 = add i32 %lsr.iv78, 48
  %324 = sext i32 %323 to i64
  %325 = getelementptr float, float* %11, i64 %324
  %326 = bitcast float* %325 to <16 x float>*
  %wide.vec67.7 = load <16 x float>, <16 x float>* %326, align 4
  %strided.vec68.7 = shufflevector <16 x float> %wide.vec67.7, <16 x float> poison, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %strided.vec69.7 = shufflevector <16 x float> %wide.vec67.7, <16 x float> poison, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %327 = add i32 %lsr.iv78, 49
  %328 = sext i32 %327 to i64
  %329 = fmul reassoc ninf nsz <8 x float> %strided.vec68.7, %strided.vec.7
  %330 = fmul reassoc ninf nsz <8 x float> %strided.vec69.7, %strided.vec64.7
  %331 = fadd reassoc ninf nsz <8 x float> %330, %329
  %332 = fmul reassoc ninf nsz <8 x float> %strided.vec68.7, %strided.vec65.7
  %333 = fmul reassoc ninf nsz <8 x float> %strided.vec69.7, %strided.vec66.7
  %334 = fadd reassoc ninf nsz <8 x float> %333, %332
  %335 = getelementptr float, float* %28, i64 %328
  %336 = bitcast float* %335 to <16 x float>*
  %interleaved.vec.7 = shufflevector <8 x float> %331, <8 x float> %334, <16 x i32> <i32 0, i32 8, i32 1, i32 9, i32 2, i32 10, i32 3, i32 11, i32 4, i32 12, i32 5, i32 13, i32 6, i32 14, i32 7, i32 15>
  store <16 x float> %interleaved.vec.7, <16 x float>* %336, align 4
  %337 = fmul reassoc ninf nsz <32 x float> %wide.vec.7, %wide.vec.7
  %338 = shufflevector <32 x float> %337, <32 x float> poison, <8 x i32> <i32 0, i32 4, i32 8, i32 12, i32 16, i32 20, i32 24, i32 28>
  %339 = fmul reassoc ninf nsz <8 x float> %strided.vec65.7, %strided.vec64.7
  %340 = fadd reassoc ninf nsz <8 x float> %339, %338
  %341 = fadd reassoc ninf nsz <8 x float> %strided.vec66.7, %strided.vec.7
  %342 = fmul reassoc ninf nsz <8 x float> %341, %strided.vec64.7
  %343 = fmul reassoc ninf nsz <8 x float> %341, %strided.vec65.7
  %344 = shufflevector <32 x float> %337, <32 x float> poison, <8 x i32> <i32 3, i32 7, i32 11, i32 15, i32 19, i32 23, i32 27, i32 31>
  %345 = fadd reassoc ninf nsz <8 x float> %344, %339
  %346 = getelementptr float, float* %27, i64 %322
  %347 = bitcast float* %346 to <32 x float>*
  %348 = shufflevector <8 x float> %340, <8 x float> %342, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %349 = shufflevector <8 x float> %343, <8 x float> %345, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %interleaved.vec70.7 = shufflevector <16 x float> %348, <16 x float> %349, <32 x i32> <i32 0, i32 8, i32 16, i32 24, i32 1, i32 9, i32 17, i32 25, i32 2, i32 10, i32 18, i32 26, i32 3, i32 11, i32 19, i32 27, i32 4, i32 12, i32 20, i32 28, i32 5, i32 13, i32 21, i32 29, i32 6, i32 14, i32 22, i32 30, i32 7, i32 15, i32 23, i32 31>
  store <32 x float> %interleaved.vec70.7, <32 x float>* %347, align 4
  %index.next.7 = add i64 %index, 64
  %lsr.iv.next75 = add i32 %lsr.iv74, 256
  %lsr.iv.next79 = add i32 %lsr.iv78, 128
  %lsr.iv.next81 = add i64 %lsr.iv80, -8
  %niter.ncmp.7 = icmp eq i64 %lsr.iv.next81, 0
  br i1 %niter.ncmp.7, label %middle.block.unr-lcssa.loopexit, label %vector.body, !llvm.loop !6

middle.block.unr-lcssa.loopexit:                  ; preds = %vector.body
  br label %middle.block.unr-lcssa

middle.block.unr-lcssa:                           ; preds = %middle.block.unr-lcssa.loopexit, %vector.ph
  %index.unr = phi i64 [ 0, %vector.ph ], [ %index.next.7, %middle.block.unr-lcssa.loopexit ]
  br i1 %lcmp.mod.not, label %middle.block, label %vector.body.epil.preheader

vector.body.epil.preheader:                       ; preds = %middle.block.unr-lcssa
  %350 = trunc i64 %index.unr to i32
  %351 = add i32 %lsr.iv82, %350
  %352 = shl i32 %351, 1
  %353 = add i32 %lsr.iv86, %350
  %354 = shl i32 %353, 2
  br label %vector.body.epil

vector.body.epil:                                 ; preds = %vector.body.epil.preheader, %vector.body.epil
  %lsr.iv90 = phi i64 [ %xtraiter, %vector.body.epil.preheader ], [ %lsr.iv.next91, %vector.body.epil ]
  %lsr.iv88 = phi i32 [ %354, %vector.body.epil.preheader ], [ %lsr.iv.next89, %vector.body.epil ]
  %lsr.iv84 = phi i32 [ %352, %vector.body.epil.preheader ], [ %lsr.iv.next85, %vector.body.epil ]
  %355 = sext i32 %lsr.iv88 to i64
  %356 = getelementptr float, float* %7, i64 %355
  %357 = bitcast float* %356 to <32 x float>*
  %wide.vec.epil = load <32 x float>, <32 x float>* %357, align 4
  %strided.vec.epil = shufflevector <32 x float> %wide.vec.epil, <32 x float> poison, <8 x i32> <i32 0, i32 4, i32 8, i32 12, i32 16, i32 20, i32 24, i32 28>
  %strided.vec64.epil = shufflevector <32 x float> %wide.vec.epil, <32 x float> poison, <8 x i32> <i32 1, i32 5, i32 9, i32 13, i32 17, i32 21, i32 25, i32 29>
  %strided.vec65.epil = shufflevector <32 x float> %wide.vec.epil, <32 x float> poison, <8 x i32> <i32 2, i32 6, i32 10, i32 14, i32 18, i32 22, i32 26, i32 30>
  %strided.vec66.epil = shufflevector <32 x float> %wide.vec.epil, <32 x float> poison, <8 x i32> <i32 3, i32 7, i32 11, i32 15, i32 19, i32 23, i32 27, i32 31>
  %358 = add i32 %lsr.iv88, 3
  %359 = sext i32 %358 to i64
  %360 = sext i32 %lsr.iv84 to i64
  %361 = getelementptr float, float* %11, i64 %360
  %362 = bitcast float* %361 to <16 x float>*
  %wide.vec67.epil = load <16 x float>, <16 x float>* %362, align 4
  %strided.vec68.epil = shufflevector <16 x float> %wide.vec67.epil, <16 x float> poison, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %strided.vec69.epil = shufflevector <16 x float> %wide.vec67.epil, <16 x float> poison, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %363 = add i32 %lsr.iv84, 1
  %364 = sext i32 %363 to i64
  %365 = fmul reassoc ninf nsz <8 x float> %strided.vec68.epil, %strided.vec.epil
  %366 = fmul reassoc ninf nsz <8 x float> %strided.vec69.epil, %strided.vec64.epil
  %367 = fadd reassoc ninf nsz <8 x float> %366, %365
  %368 = fmul reassoc ninf nsz <8 x float> %strided.vec68.epil, %strided.vec65.epil
  %369 = fmul reassoc ninf nsz <8 x float> %strided.vec69.epil, %strided.vec66.epil
  %370 = fadd reassoc ninf nsz <8 x float> %369, %368
  %371 = getelementptr float, float* %28, i64 %364
  %372 = bitcast float* %371 to <16 x float>*
  %interleaved.vec.epil = shufflevector <8 x float> %367, <8 x float> %370, <16 x i32> <i32 0, i32 8, i32 1, i32 9, i32 2, i32 10, i32 3, i32 11, i32 4, i32 12, i32 5, i32 13, i32 6, i32 14, i32 7, i32 15>
  store <16 x float> %interleaved.vec.epil, <16 x float>* %372, align 4
  %373 = fmul reassoc ninf nsz <32 x float> %wide.vec.epil, %wide.vec.epil
  %374 = shufflevector <32 x float> %373, <32 x float> poison, <8 x i32> <i32 0, i32 4, i32 8, i32 12, i32 16, i32 20, i32 24, i32 28>
  %375 = fmul reassoc ninf nsz <8 x float> %strided.vec65.epil, %strided.vec64.epil
  %376 = fadd reassoc ninf nsz <8 x float> %375, %374
  %377 = fadd reassoc ninf nsz <8 x float> %strided.vec66.epil, %strided.vec.epil
  %378 = fmul reassoc ninf nsz <8 x float> %377, %strided.vec64.epil
  %379 = fmul reassoc ninf nsz <8 x float> %377, %strided.vec65.epil
  %380 = shufflevector <32 x float> %373, <32 x float> poison, <8 x i32> <i32 3, i32 7, i32 11, i32 15, i32 19, i32 23, i32 27, i32 31>
  %381 = fadd reassoc ninf nsz <8 x float> %380, %375
  %382 = getelementptr float, float* %27, i64 %359
  %383 = bitcast float* %382 to <32 x float>*
  %384 = shufflevector <8 x float> %376, <8 x float> %378, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %385 = shufflevector <8 x float> %379, <8 x float> %381, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %interleaved.vec70.epil = shufflevector <16 x float> %384, <16 x float> %385, <32 x i32> <i32 0, i32 8, i32 16, i32 24, i32 1, i32 9, i32 17, i32 25, i32 2, i32 10, i32 18, i32 26, i32 3, i32 11, i32 19, i32 27, i32 4, i32 12, i32 20, i32 28, i32 5, i32 13, i32 21, i32 29, i32 6, i32 14, i32 22, i32 30, i32 7, i32 15, i32 23, i32 31>
  store <32 x float> %interleaved.vec70.epil, <32 x float>* %383, align 4
  %lsr.iv.next85 = add i32 %lsr.iv84, 16
  %lsr.iv.next89 = add i32 %lsr.iv88, 32
  %lsr.iv.next91 = add nsw i64 %lsr.iv90, -1
  %epil.iter.cmp.not = icmp eq i64 %lsr.iv.next91, 0
  br i1 %epil.iter.cmp.not, label %middle.block.loopexit, label %vector.body.epil, !llvm.loop !8

middle.block.loopexit:                            ; preds = %vector.body.epil
  br label %middle.block

middle.block:                                     ; preds = %middle.block.loopexit, %middle.block.unr-lcssa
  br i1 %cmp.n, label %after_for3.i.loopexit.us, label %for_loop_body1.i.us.preheader

for_loop_body1.i.us.preheader:                    ; preds = %vector.memcheck, %vector.scevcheck, %for_loop_body.i.us, %middle.block
  %indvars.iv.ph = phi i64 [ 0, %vector.memcheck ], [ 0, %vector.scevcheck ], [ 0, %for_loop_body.i.us ], [ %20, %middle.block ]
  %386 = xor i64 %indvars.iv.ph, -1
  %387 = add nsw i64 %386, %14
  br i1 %lcmp.mod72.not, label %for_loop_body1.i.us.prol.loopexit, label %for_loop_body1.i.us.prol.preheader

for_loop_body1.i.us.prol.preheader:               ; preds = %for_loop_body1.i.us.preheader
  %388 = trunc i64 %indvars.iv.ph to i32
  %389 = add i32 %lsr.iv82, %388
  %390 = shl i32 %389, 1
  %391 = add i32 %lsr.iv86, %388
  %392 = shl i32 %391, 2
  br label %for_loop_body1.i.us.prol

for_loop_body1.i.us.prol:                         ; preds = %for_loop_body1.i.us.prol.preheader, %for_loop_body1.i.us.prol
  %lsr.iv96 = phi i32 [ %392, %for_loop_body1.i.us.prol.preheader ], [ %lsr.iv.next97, %for_loop_body1.i.us.prol ]
  %lsr.iv94 = phi i32 [ %390, %for_loop_body1.i.us.prol.preheader ], [ %lsr.iv.next95, %for_loop_body1.i.us.prol ]
  %lsr.iv92 = phi i64 [ 0, %for_loop_body1.i.us.prol.preheader ], [ %lsr.iv.next93, %for_loop_body1.i.us.prol ]
  %393 = sext i32 %lsr.iv96 to i64
  %394 = getelementptr float, float* %7, i64 %393
  %395 = add i32 %lsr.iv96, 1
  %396 = sext i32 %395 to i64
  %397 = getelementptr float, float* %7, i64 %396
  %398 = add i32 %lsr.iv96, 3
  %399 = sext i32 %398 to i64
  %400 = getelementptr float, float* %7, i64 %399
  %401 = sext i32 %lsr.iv94 to i64
  %402 = getelementptr float, float* %11, i64 %401
  %403 = load float, float* %394, align 4
  %404 = bitcast float* %397 to <2 x float>*
  %405 = load <2 x float>, <2 x float>* %404, align 4
  %406 = load float, float* %400, align 4
  %407 = bitcast float* %402 to <2 x float>*
  %408 = load <2 x float>, <2 x float>* %407, align 4
  %409 = shufflevector <2 x float> %408, <2 x float> poison, <2 x i32> <i32 1, i32 0>
  %410 = fmul reassoc ninf nsz <2 x float> %409, %405
  %411 = insertelement <2 x float> poison, float %403, i64 0
  %412 = insertelement <2 x float> %411, float %406, i64 1
  %413 = fmul reassoc ninf nsz <2 x float> %408, %412
  %414 = fadd reassoc ninf nsz <2 x float> %413, %410
  store <2 x float> %414, <2 x float>* %407, align 4
  %415 = fmul reassoc ninf nsz float %403, %403
  %shift.prol = shufflevector <2 x float> %405, <2 x float> poison, <2 x i32> <i32 1, i32 undef>
  %416 = fmul reassoc ninf nsz <2 x float> %shift.prol, %405
  %417 = extractelement <2 x float> %416, i64 0
  %418 = fadd reassoc ninf nsz float %417, %415
  %419 = fadd reassoc ninf nsz float %406, %403
  %420 = fmul reassoc ninf nsz float %406, %406
  %421 = fadd reassoc ninf nsz float %420, %417
  store float %418, float* %394, align 4
  %422 = insertelement <2 x float> poison, float %419, i64 0
  %423 = shufflevector <2 x float> %422, <2 x float> poison, <2 x i32> zeroinitializer
  %424 = fmul reassoc ninf nsz <2 x float> %423, %405
  store <2 x float> %424, <2 x float>* %404, align 4
  store float %421, float* %400, align 4
  %lsr.iv.next93 = add nsw i64 %lsr.iv92, -1
  %lsr.iv.next95 = add i32 %lsr.iv94, 2
  %lsr.iv.next97 = add i32 %lsr.iv96, 4
  %prol.iter.cmp.not = icmp eq i64 %29, %lsr.iv.next93
  br i1 %prol.iter.cmp.not, label %for_loop_body1.i.us.prol.loopexit.loopexit, label %for_loop_body1.i.us.prol, !llvm.loop !10

for_loop_body1.i.us.prol.loopexit.loopexit:       ; preds = %for_loop_body1.i.us.prol
  %425 = sub i64 %indvars.iv.ph, %29
  br label %for_loop_body1.i.us.prol.loopexit

for_loop_body1.i.us.prol.loopexit:                ; preds = %for_loop_body1.i.us.prol.loopexit.loopexit, %for_loop_body1.i.us.preheader
  %indvars.iv.unr = phi i64 [ %indvars.iv.ph, %for_loop_body1.i.us.preheader ], [ %425, %for_loop_body1.i.us.prol.loopexit.loopexit ]
  %426 = icmp ult i64 %387, 7
  br i1 %426, label %after_for3.i.loopexit.us, label %for_loop_body1.i.us.preheader73

for_loop_body1.i.us.preheader73:                  ; preds = %for_loop_body1.i.us.prol.loopexit
  %427 = trunc i64 %indvars.iv.unr to i32
  %428 = shl i32 %427, 2
  %429 = shl i32 %427, 1
  %430 = sub i64 %14, %indvars.iv.unr
  br label %for_loop_body1.i.us

for_loop_body1.i.us:                              ; preds = %for_loop_body1.i.us.preheader73, %for_loop_body1.i.us
  %lsr.iv106 = phi i64 [ %430, %for_loop_body1.i.us.preheader73 ], [ %lsr.iv.next107, %for_loop_body1.i.us ]
  %lsr.iv104 = phi i32 [ %lsr.iv102, %for_loop_body1.i.us.preheader73 ], [ %lsr.iv.next105, %for_loop_body1.i.us ]
  %lsr.iv100 = phi i32 [ %lsr.iv98, %for_loop_body1.i.us.preheader73 ], [ %lsr.iv.next101, %for_loop_body1.i.us ]
  %431 = add i32 %428, %lsr.iv100
  %432 = add i32 %431, -28
  %433 = sext i32 %432 to i64
  %434 = getelementptr float, float* %7, i64 %433
  %435 = add i32 %431, -27
  %436 = sext i32 %435 to i64
  %437 = getelementptr float, float* %7, i64 %436
  %438 = add i32 %431, -25
  %439 = sext i32 %438 to i64
  %440 = getelementptr float, float* %7, i64 %439
  %441 = add i32 %429, %lsr.iv104
  %442 = add i32 %441, -14
  %443 = sext i32 %442 to i64
  %444 = getelementptr float, float* %11, i64 %443
  %445 = load float, float* %434, align 4
  %446 = bitcast float* %437 to <2 x float>*
  %447 = load <2 x float>, <2 x float>* %446, align 4
  %448 = load float, float* %440, align 4
  %449 = bitcast float* %444 to <2 x float>*
  %450 = load <2 x float>, <2 x float>* %449, align 4
  %451 = shufflevector <2 x float> %450, <2 x float> poison, <2 x i32> <i32 1, i32 0>
  %452 = fmul reassoc ninf nsz <2 x float> %451, %447
  %453 = insertelement <2 x float> poison, float %445, i64 0
  %454 = insertelement <2 x float> %453, float %448, i64 1
  %455 = fmul reassoc ninf nsz <2 x float> %450, %454
  %456 = fadd reassoc ninf nsz <2 x float> %455, %452
  store <2 x float> %456, <2 x float>* %449, align 4
  %457 = fmul reassoc ninf nsz float %445, %445
  %shift = shufflevector <2 x float> %447, <2 x float> poison, <2 x i32> <i32 1, i32 undef>
  %458 = fmul reassoc ninf nsz <2 x float> %shift, %447
  %459 = extractelement <2 x float> %458, i64 0
  %460 = fadd reassoc ninf nsz float %459, %457
  %461 = fadd reassoc ninf nsz float %448, %445
  %462 = fmul reassoc ninf nsz float %448, %448
  %463 = fadd reassoc ninf nsz float %462, %459
  store float %460, float* %434, align 4
  %464 = insertelement <2 x float> poison, float %461, i64 0
  %465 = shufflevector <2 x float> %464, <2 x float> poison, <2 x i32> zeroinitializer
  %466 = fmul reassoc ninf nsz <2 x float> %465, %447
  store <2 x float> %466, <2 x float>* %446, align 4
  store float %463, float* %440, align 4
  %467 = add i32 %431, -24
  %468 = sext i32 %467 to i64
  %469 = getelementptr float, float* %7, i64 %468
  %470 = add i32 %431, -23
  %471 = sext i32 %470 to i64
  %472 = getelementptr float, float* %7, i64 %471
  %473 = add i32 %431, -21
  %474 = sext i32 %473 to i64
  %475 = getelementptr float, float* %7, i64 %474
  %476 = add i32 %441, -12
  %477 = sext i32 %476 to i64
  %478 = getelementptr float, float* %11, i64 %477
  %479 = load float, float* %469, align 4
  %480 = bitcast float* %472 to <2 x float>*
  %481 = load <2 x float>, <2 x float>* %480, align 4
  %482 = load float, float* %475, align 4
  %483 = bitcast float* %478 to <2 x float>*
  %484 = load <2 x float>, <2 x float>* %483, align 4
  %485 = shufflevector <2 x float> %484, <2 x float> poison, <2 x i32> <i32 1, i32 0>
  %486 = fmul reassoc ninf nsz <2 x float> %485, %481
  %487 = insertelement <2 x float> poison, float %479, i64 0
  %488 = insertelement <2 x float> %487, float %482, i64 1
  %489 = fmul reassoc ninf nsz <2 x float> %484, %488
  %490 = fadd reassoc ninf nsz <2 x float> %489, %486
  store <2 x float> %490, <2 x float>* %483, align 4
  %491 = fmul reassoc ninf nsz float %479, %479
  %shift.1 = shufflevector <2 x float> %481, <2 x float> poison, <2 x i32> <i32 1, i32 undef>
  %492 = fmul reassoc ninf nsz <2 x float> %shift.1, %481
  %493 = extractelement <2 x float> %492, i64 0
  %494 = fadd reassoc ninf nsz float %493, %491
  %495 = fadd reassoc ninf nsz float %482, %479
  %496 = fmul reassoc ninf nsz float %482, %482
  %497 = fadd reassoc ninf nsz float %496, %493
  store float %494, float* %469, align 4
  %498 = insertelement <2 x float> poison, float %495, i64 0
  %499 = shufflevector <2 x float> %498, <2 x float> poison, <2 x i32> zeroinitializer
  %500 = fmul reassoc ninf nsz <2 x float> %499, %481
  store <2 x float> %500, <2 x float>* %480, align 4
  store float %497, float* %475, align 4
  %501 = add i32 %431, -20
  %502 = sext i32 %501 to i64
  %503 = getelementptr float, float* %7, i64 %502
  %504 = add i32 %431, -19
  %505 = sext i32 %504 to i64
  %506 = getelementptr float, float* %7, i64 %505
  %507 = add i32 %431, -17
  %508 = sext i32 %507 to i64
  %509 = getelementptr float, float* %7, i64 %508
  %510 = add i32 %441, -10
  %511 = sext i32 %510 to i64
  %512 = getelementptr float, float* %11, i64 %511
  %513 = load float, float* %503, align 4
  %514 = bitcast float* %506 to <2 x float>*
  %515 = load <2 x float>, <2 x float>* %514, align 4
  %516 = load float, float* %509, align 4
  %517 = bitcast float* %512 to <2 x float>*
  %518 = load <2 x float>, <2 x float>* %517, align 4
  %519 = shufflevector <2 x float> %518, <2 x float> poison, <2 x i32> <i32 1, i32 0>
  %520 = fmul reassoc ninf nsz <2 x float> %519, %515
  %521 = insertelement <2 x float> poison, float %513, i64 0
  %522 = insertelement <2 x float> %521, float %516, i64 1
  %523 = fmul reassoc ninf nsz <2 x float> %518, %522
  %524 = fadd reassoc ninf nsz <2 x float> %523, %520
  store <2 x float> %524, <2 x float>* %517, align 4
  %525 = fmul reassoc ninf nsz float %513, %513
  %shift.2 = shufflevector <2 x float> %515, <2 x float> poison, <2 x i32> <i32 1, i32 undef>
  %526 = fmul reassoc ninf nsz <2 x float> %shift.2, %515
  %527 = extractelement <2 x float> %526, i64 0
  %528 = fadd reassoc ninf nsz float %527, %525
  %529 = fadd reassoc ninf nsz float %516, %513
  %530 = fmul reassoc ninf nsz float %516, %516
  %531 = fadd reassoc ninf nsz float %530, %527
  store float %528, float* %503, align 4
  %532 = insertelement <2 x float> poison, float %529, i64 0
  %533 = shufflevector <2 x float> %532, <2 x float> poison, <2 x i32> zeroinitializer
  %534 = fmul reassoc ninf nsz <2 x float> %533, %515
  store <2 x float> %534, <2 x float>* %514, align 4
  store float %531, float* %509, align 4
  %535 = add i32 %431, -16
  %536 = sext i32 %535 to i64
  %537 = getelementptr float, float* %7, i64 %536
  %538 = add i32 %431, -15
  %539 = sext i32 %538 to i64
  %540 = getelementptr float, float* %7, i64 %539
  %541 = add i32 %431, -13
  %542 = sext i32 %541 to i64
  %543 = getelementptr float, float* %7, i64 %542
  %544 = add i32 %441, -8
  %545 = sext i32 %544 to i64
  %546 = getelementptr float, float* %11, i64 %545
  %547 = load float, float* %537, align 4
  %548 = bitcast float* %540 to <2 x float>*
  %549 = load <2 x float>, <2 x float>* %548, align 4
  %550 = load float, float* %543, align 4
  %551 = bitcast float* %546 to <2 x float>*
  %552 = load <2 x float>, <2 x float>* %551, align 4
  %553 = shufflevector <2 x float> %552, <2 x float> poison, <2 x i32> <i32 1, i32 0>
  %554 = fmul reassoc ninf nsz <2 x float> %553, %549
  %555 = insertelement <2 x float> poison, float %547, i64 0
  %556 = insertelement <2 x float> %555, float %550, i64 1
  %557 = fmul reassoc ninf nsz <2 x float> %552, %556
  %558 = fadd reassoc ninf nsz <2 x float> %557, %554
  store <2 x float> %558, <2 x float>* %551, align 4
  %559 = fmul reassoc ninf nsz float %547, %547
  %shift.3 = shufflevector <2 x float> %549, <2 x float> poison, <2 x i32> <i32 1, i32 undef>
  %560 = fmul reassoc ninf nsz <2 x float> %shift.3, %549
  %561 = extractelement <2 x float> %560, i64 0
  %562 = fadd reassoc ninf nsz float %561, %559
  %563 = fadd reassoc ninf nsz float %550, %547
  %564 = fmul reassoc ninf nsz float %550, %550
  %565 = fadd reassoc ninf nsz float %564, %561
  store float %562, float* %537, align 4
  %566 = insertelement <2 x float> poison, float %563, i64 0
  %567 = shufflevector <2 x float> %566, <2 x float> poison, <2 x i32> zeroinitializer
  %568 = fmul reassoc ninf nsz <2 x float> %567, %549
  store <2 x float> %568, <2 x float>* %548, align 4
  store float %565, float* %543, align 4
  %569 = add i32 %431, -12
  %570 = sext i32 %569 to i64
  %571 = getelementptr float, float* %7, i64 %570
  %572 = add i32 %431, -11
  %573 = sext i32 %572 to i64
  %574 = getelementptr float, float* %7, i64 %573
  %575 = add i32 %431, -9
  %576 = sext i32 %575 to i64
  %577 = getelementptr float, float* %7, i64 %576
  %578 = add i32 %441, -6
  %579 = sext i32 %578 to i64
  %580 = getelementptr float, float* %11, i64 %579
  %581 = load float, float* %571, align 4
  %582 = bitcast float* %574 to <2 x float>*
  %583 = load <2 x float>, <2 x float>* %582, align 4
  %584 = load float, float* %577, align 4
  %585 = bitcast float* %580 to <2 x float>*
  %586 = load <2 x float>, <2 x float>* %585, align 4
  %587 = shufflevector <2 x float> %586, <2 x float> poison, <2 x i32> <i32 1, i32 0>
  %588 = fmul reassoc ninf nsz <2 x float> %587, %583
  %589 = insertelement <2 x float> poison, float %581, i64 0
  %590 = insertelement <2 x float> %589, float %584, i64 1
  %591 = fmul reassoc ninf nsz <2 x float> %586, %590
  %592 = fadd reassoc ninf nsz <2 x float> %591, %588
  store <2 x float> %592, <2 x float>* %585, align 4
  %593 = fmul reassoc ninf nsz float %581, %581
  %shift.4 = shufflevector <2 x float> %583, <2 x float> poison, <2 x i32> <i32 1, i32 undef>
  %594 = fmul reassoc ninf nsz <2 x float> %shift.4, %583
  %595 = extractelement <2 x float> %594, i64 0
  %596 = fadd reassoc ninf nsz float %595, %593
  %597 = fadd reassoc ninf nsz float %584, %581
  %598 = fmul reassoc ninf nsz float %584, %584
  %599 = fadd reassoc ninf nsz float %598, %595
  store float %596, float* %571, align 4
  %600 = insertelement <2 x float> poison, float %597, i64 0
  %601 = shufflevector <2 x float> %600, <2 x float> poison, <2 x i32> zeroinitializer
  %602 = fmul reassoc ninf nsz <2 x float> %601, %583
  store <2 x float> %602, <2 x float>* %582, align 4
  store float %599, float* %577, align 4
  %603 = add i32 %431, -8
  %604 = sext i32 %603 to i64
  %605 = getelementptr float, float* %7, i64 %604
  %606 = add i32 %431, -7
  %607 = sext i32 %606 to i64
  %608 = getelementptr float, float* %7, i64 %607
  %609 = add i32 %431, -5
  %610 = sext i32 %609 to i64
  %611 = getelementptr float, float* %7, i64 %610
  %612 = add i32 %441, -4
  %613 = sext i32 %612 to i64
  %614 = getelementptr float, float* %11, i64 %613
  %615 = load float, float* %605, align 4
  %616 = bitcast float* %608 to <2 x float>*
  %617 = load <2 x float>, <2 x float>* %616, align 4
  %618 = load float, float* %611, align 4
  %619 = bitcast float* %614 to <2 x float>*
  %620 = load <2 x float>, <2 x float>* %619, align 4
  %621 = shufflevector <2 x float> %620, <2 x float> poison, <2 x i32> <i32 1, i32 0>
  %622 = fmul reassoc ninf nsz <2 x float> %621, %617
  %623 = insertelement <2 x float> poison, float %615, i64 0
  %624 = insertelement <2 x float> %623, float %618, i64 1
  %625 = fmul reassoc ninf nsz <2 x float> %620, %624
  %626 = fadd reassoc ninf nsz <2 x float> %625, %622
  store <2 x float> %626, <2 x float>* %619, align 4
  %627 = fmul reassoc ninf nsz float %615, %615
  %shift.5 = shufflevector <2 x float> %617, <2 x float> poison, <2 x i32> <i32 1, i32 undef>
  %628 = fmul reassoc ninf nsz <2 x float> %shift.5, %617
  %629 = extractelement <2 x float> %628, i64 0
  %630 = fadd reassoc ninf nsz float %629, %627
  %631 = fadd reassoc ninf nsz float %618, %615
  %632 = fmul reassoc ninf nsz float %618, %618
  %633 = fadd reassoc ninf nsz float %632, %629
  store float %630, float* %605, align 4
  %634 = insertelement <2 x float> poison, float %631, i64 0
  %635 = shufflevector <2 x float> %634, <2 x float> poison, <2 x i32> zeroinitializer
  %636 = fmul reassoc ninf nsz <2 x float> %635, %617
  store <2 x float> %636, <2 x float>* %616, align 4
  store float %633, float* %611, align 4
  %637 = add i32 %431, -4
  %638 = sext i32 %637 to i64
  %639 = getelementptr float, float* %7, i64 %638
  %640 = add i32 %431, -3
  %641 = sext i32 %640 to i64
  %642 = getelementptr float, float* %7, i64 %641
  %643 = add i32 %431, -1
  %644 = sext i32 %643 to i64
  %645 = getelementptr float, float* %7, i64 %644
  %646 = add i32 %441, -2
  %647 = sext i32 %646 to i64
  %648 = getelementptr float, float* %11, i64 %647
  %649 = load float, float* %639, align 4
  %650 = bitcast float* %642 to <2 x float>*
  %651 = load <2 x float>, <2 x float>* %650, align 4
  %652 = load float, float* %645, align 4
  %653 = bitcast float* %648 to <2 x float>*
  %654 = load <2 x float>, <2 x float>* %653, align 4
  %655 = shufflevector <2 x float> %654, <2 x float> poison, <2 x i32> <i32 1, i32 0>
  %656 = fmul reassoc ninf nsz <2 x float> %655, %651
  %657 = insertelement <2 x float> poison, float %649, i64 0
  %658 = insertelement <2 x float> %657, float %652, i64 1
  %659 = fmul reassoc ninf nsz <2 x float> %654, %658
  %660 = fadd reassoc ninf nsz <2 x float> %659, %656
  store <2 x float> %660, <2 x float>* %653, align 4
  %661 = fmul reassoc ninf nsz float %649, %649
  %shift.6 = shufflevector <2 x float> %651, <2 x float> poison, <2 x i32> <i32 1, i32 undef>
  %662 = fmul reassoc ninf nsz <2 x float> %shift.6, %651
  %663 = extractelement <2 x float> %662, i64 0
  %664 = fadd reassoc ninf nsz float %663, %661
  %665 = fadd reassoc ninf nsz float %652, %649
  %666 = fmul reassoc ninf nsz float %652, %652
  %667 = fadd reassoc ninf nsz float %666, %663
  store float %664, float* %639, align 4
  %668 = insertelement <2 x float> poison, float %665, i64 0
  %669 = shufflevector <2 x float> %668, <2 x float> poison, <2 x i32> zeroinitializer
  %670 = fmul reassoc ninf nsz <2 x float> %669, %651
  store <2 x float> %670, <2 x float>* %650, align 4
  store float %667, float* %645, align 4
  %671 = sext i32 %431 to i64
  %672 = getelementptr float, float* %7, i64 %671
  %673 = add i32 %431, 1
  %674 = sext i32 %673 to i64
  %675 = getelementptr float, float* %7, i64 %674
  %676 = add i32 %431, 3
  %677 = sext i32 %676 to i64
  %678 = getelementptr float, float* %7, i64 %677
  %679 = sext i32 %441 to i64
  %680 = getelementptr float, float* %11, i64 %679
  %681 = load float, float* %672, align 4
  %682 = bitcast float* %675 to <2 x float>*
  %683 = load <2 x float>, <2 x float>* %682, align 4
  %684 = load float, float* %678, align 4
  %685 = bitcast float* %680 to <2 x float>*
  %686 = load <2 x float>, <2 x float>* %685, align 4
  %687 = shufflevector <2 x float> %686, <2 x float> poison, <2 x i32> <i32 1, i32 0>
  %688 = fmul reassoc ninf nsz <2 x float> %687, %683
  %689 = insertelement <2 x float> poison, float %681, i64 0
  %690 = insertelement <2 x float> %689, float %684, i64 1
  %691 = fmul reassoc ninf nsz <2 x float> %686, %690
  %692 = fadd reassoc ninf nsz <2 x float> %691, %688
  store <2 x float> %692, <2 x float>* %685, align 4
  %693 = fmul reassoc ninf nsz float %681, %681
  %shift.7 = shufflevector <2 x float> %683, <2 x float> poison, <2 x i32> <i32 1, i32 undef>
  %694 = fmul reassoc ninf nsz <2 x float> %shift.7, %683
  %695 = extractelement <2 x float> %694, i64 0
  %696 = fadd reassoc ninf nsz float %695, %693
  %697 = fadd reassoc ninf nsz float %684, %681
  %698 = fmul reassoc ninf nsz float %684, %684
  %699 = fadd reassoc ninf nsz float %698, %695
  store float %696, float* %672, align 4
  %700 = insertelement <2 x float> poison, float %697, i64 0
  %701 = shufflevector <2 x float> %700, <2 x float> poison, <2 x i32> zeroinitializer
  %702 = fmul reassoc ninf nsz <2 x float> %701, %683
  store <2 x float> %702, <2 x float>* %682, align 4
  store float %699, float* %678, align 4
  %lsr.iv.next101 = add i32 %lsr.iv100, 32
  %lsr.iv.next105 = add i32 %lsr.iv104, 16
  %lsr.iv.next107 = add i64 %lsr.iv106, -8
  %exitcond.not.i.us.7 = icmp eq i64 %lsr.iv.next107, 0
  br i1 %exitcond.not.i.us.7, label %after_for3.i.loopexit.us.loopexit, label %for_loop_body1.i.us, !llvm.loop !11

after_for3.i.loopexit.us.loopexit:                ; preds = %for_loop_body1.i.us
  br label %after_for3.i.loopexit.us

after_for3.i.loopexit.us:                         ; preds = %after_for3.i.loopexit.us.loopexit, %for_loop_body1.i.us.prol.loopexit, %middle.block
  %indvars.iv.next = add nuw nsw i64 %indvars.iv, 1
  %lsr.iv.next = add i32 %lsr.iv, %17
  %lsr.iv.next77 = add i32 %lsr.iv76, %16
  %lsr.iv.next83 = add i32 %lsr.iv82, %9
  %lsr.iv.next87 = add i32 %lsr.iv86, %5
  %lsr.iv.next99 = add i32 %lsr.iv98, %17
  %lsr.iv.next103 = add i32 %lsr.iv102, %16
  %exitcond33.not.i.us = icmp eq i64 %indvars.iv.next, %30
  br i1 %exitcond33.not.i.us, label %matrices_in_two_dimensions_body_1048578_0.exit.loopexit, label %for_loop_body.i.us

matrices_in_two_dimensions_body_1048578_0.exit.loopexit: ; preds = %after_for3.i.loopexit.us
  br label %matrices_in_two_dimensions_body_1048578_0.exit

matrices_in_two_dimensions_body_1048578_0.exit:   ; preds = %matrices_in_two_dimensions_body_1048578_0.exit.loopexit, %entry
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
!10 = distinct !{!10, !9}
!11 = distinct !{!11, !7}
