; ModuleID = 'kernel'
source_filename = "kernel"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

%struct.RuntimeContext.77 = type { i8*, %struct.LLVMRuntime.76*, i32, i64* }
%struct.LLVMRuntime.76 = type { %struct.PreallocatedMemoryChunk.71, %struct.PreallocatedMemoryChunk.71, i8* (i8*, i64, i64)*, void (i8*)*, void (i8*, ...)*, i32 (i8*, i64, i8*, %struct.__va_list_tag.72*)*, i8*, [512 x i8*], [512 x i64], i8*, void (i8*, i32, i32, i8*, void (i8*, i32, i32)*)*, [1024 x %struct.ListManager.73*], [1024 x %struct.NodeManager.74*], [1024 x i8*], i8*, %struct.RandState.75*, i8*, void (i8*, i8*)*, void (i8*)*, [2048 x i8], [32 x i64], i32, i64, i8*, i32, i32, i64 }
%struct.PreallocatedMemoryChunk.71 = type { i8*, i8*, i64 }
%struct.__va_list_tag.72 = type { i32, i32, i8*, i8* }
%struct.ListManager.73 = type { [131072 x i8*], i64, i64, i32, i32, i32, %struct.LLVMRuntime.76* }
%struct.NodeManager.74 = type <{ %struct.LLVMRuntime.76*, i32, i32, i32, i32, %struct.ListManager.73*, %struct.ListManager.73*, %struct.ListManager.73*, i32, [4 x i8] }>
%struct.RandState.75 = type { i32, i32, i32, i32, i32 }

; Function Attrs: nofree nosync nounwind
define void @break_of_a_loop_over_a_field_adjoint_c11_0_kernel_0_serial(%struct.RuntimeContext.77* nocapture readonly %context) local_unnamed_addr #0 {
entry:
  %0 = alloca [128 x float], align 4
  %1 = alloca [32 x float], align 4
  %2 = alloca [32 x i32], align 4
  %3 = bitcast %struct.RuntimeContext.77* %context to { { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32 }, float* } }**
  %4 = load { { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32 }, float* } }*, { { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32 }, float* } }** %3, align 8
  %5 = getelementptr { { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32 }, float* } }, { { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32 }, float* } }* %4, i64 0, i32 0, i32 0, i32 0
  %6 = load i32, i32* %5, align 4
  %7 = getelementptr { { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32 }, float* } }, { { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32 }, float* } }* %4, i64 0, i32 0, i32 0, i32 1
  %8 = load i32, i32* %7, align 4
  %.fr15 = freeze i32 %8
  %9 = getelementptr { { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32 }, float* } }, { { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32 }, float* } }* %4, i64 0, i32 0, i32 1
  %10 = load float*, float** %9, align 8
  %11 = getelementptr { { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32 }, float* } }, { { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32 }, float* } }* %4, i64 0, i32 1, i32 0, i32 1
  %12 = load i32, i32* %11, align 4
  %13 = getelementptr { { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32 }, float* } }, { { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32 }, float* } }* %4, i64 0, i32 1, i32 1
  %14 = load float*, float** %13, align 8
  %15 = getelementptr { { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32 }, float* } }, { { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32 }, float* } }* %4, i64 0, i32 2, i32 1
  %16 = load float*, float** %15, align 8
  %17 = bitcast [128 x float]* %0 to i8*
  call void @llvm.lifetime.start.p0i8(i64 512, i8* nonnull %17)
  %18 = bitcast [32 x float]* %1 to i8*
  call void @llvm.lifetime.start.p0i8(i64 128, i8* nonnull %18)
  %19 = bitcast [32 x i32]* %2 to i8*
  call void @llvm.lifetime.start.p0i8(i64 128, i8* nonnull %19)
  %20 = getelementptr inbounds [32 x float], [32 x float]* %1, i64 0, i64 14
  %21 = getelementptr inbounds [32 x float], [32 x float]* %1, i64 0, i64 12
  %22 = getelementptr inbounds [32 x float], [32 x float]* %1, i64 0, i64 10
  %23 = getelementptr inbounds [32 x float], [32 x float]* %1, i64 0, i64 8
  %24 = getelementptr inbounds [32 x float], [32 x float]* %1, i64 0, i64 7
  %25 = getelementptr inbounds [32 x float], [32 x float]* %1, i64 0, i64 6
  %26 = getelementptr inbounds [32 x float], [32 x float]* %1, i64 0, i64 5
  %27 = getelementptr inbounds [32 x float], [32 x float]* %1, i64 0, i64 4
  %28 = getelementptr inbounds [32 x float], [32 x float]* %1, i64 0, i64 3
  %29 = getelementptr inbounds [32 x float], [32 x float]* %1, i64 0, i64 2
  %30 = getelementptr inbounds [32 x float], [32 x float]* %1, i64 0, i64 1
  call void @llvm.memset.p0i8.i64(i8* noundef nonnull align 4 dereferenceable(512) %17, i8 0, i64 512, i1 false)
  %31 = getelementptr inbounds [32 x i32], [32 x i32]* %2, i64 0, i64 14
  %32 = getelementptr inbounds [32 x i32], [32 x i32]* %2, i64 0, i64 12
  %33 = getelementptr inbounds [32 x i32], [32 x i32]* %2, i64 0, i64 10
  %34 = getelementptr inbounds [32 x i32], [32 x i32]* %2, i64 0, i64 8
  %35 = getelementptr inbounds [32 x i32], [32 x i32]* %2, i64 0, i64 7
  %36 = getelementptr inbounds [32 x i32], [32 x i32]* %2, i64 0, i64 6
  %37 = getelementptr inbounds [32 x i32], [32 x i32]* %2, i64 0, i64 5
  %38 = getelementptr inbounds [32 x i32], [32 x i32]* %2, i64 0, i64 4
  %39 = getelementptr inbounds [32 x i32], [32 x i32]* %2, i64 0, i64 3
  %40 = getelementptr inbounds [32 x i32], [32 x i32]* %2, i64 0, i64 2
  %41 = getelementptr inbounds [32 x i32], [32 x i32]* %2, i64 0, i64 1
  call void @llvm.memset.p0i8.i64(i8* noundef nonnull align 4 dereferenceable(128) %18, i8 0, i64 128, i1 false)
  call void @llvm.memset.p0i8.i64(i8* noundef nonnull align 4 dereferenceable(128) %19, i8 0, i64 128, i1 false)
  %42 = icmp slt i32 %6, 1
  br i1 %42, label %true_block.i, label %after_if.i.preheader

after_if.i.preheader:                             ; preds = %entry
  %43 = icmp slt i32 %.fr15, 1
  %44 = zext i32 %.fr15 to i64
  br label %after_if.i

true_block.i.loopexit:                            ; preds = %true_block9.i
  br label %true_block.i

true_block.i:                                     ; preds = %true_block.i.loopexit, %entry
  %.0177.lcssa.i = phi i32 [ 0, %entry ], [ %.0180.i, %true_block.i.loopexit ]
  %.0176.lcssa.i = phi i32 [ 0, %entry ], [ %127, %true_block.i.loopexit ]
  %.0173.lcssa.i = phi float [ 0.000000e+00, %entry ], [ %.0190.lcssa.i, %true_block.i.loopexit ]
  %45 = add i32 %.0176.lcssa.i, 127
  %46 = sdiv i32 %45, 128
  %47 = icmp slt i32 %45, 0
  %48 = shl nsw i32 %46, 7
  %49 = icmp ne i32 %48, %45
  %50 = and i1 %47, %49
  %.neg.i = sext i1 %50 to i32
  %51 = add nsw i32 %46, %.neg.i
  %52 = icmp sgt i32 %51, 0
  br i1 %52, label %for_loop_body16.lr.ph.i, label %break_of_a_loop_over_a_field_adjoint_body_1048587_0.exit

for_loop_body16.lr.ph.i:                          ; preds = %true_block.i
  %53 = load float, float* %16, align 4
  %54 = add i32 %.0177.lcssa.i, -1
  %55 = add nsw i32 %51, -1
  %factor.i = fmul reassoc ninf nsz float %.0173.lcssa.i, 4.000000e+00
  %56 = fmul reassoc ninf nsz float %factor.i, %53
  %57 = add i32 %.0176.lcssa.i, 128
  %.neg277.i = mul nsw i32 %51, -128
  %58 = add i32 %57, %.neg277.i
  %59 = shl nuw nsw i32 %55, 7
  %60 = icmp slt i32 %.fr15, 1
  %61 = zext i32 %.fr15 to i64
  %62 = shl i32 %51, 7
  %63 = add i32 %62, -129
  %64 = sub i32 0, %12
  %65 = sub i32 0, %.fr15
  %66 = bitcast [128 x float]* %0 to <8 x float>*
  %67 = getelementptr inbounds [128 x float], [128 x float]* %0, i64 0, i64 8
  %68 = bitcast float* %67 to <8 x float>*
  %69 = getelementptr inbounds [128 x float], [128 x float]* %0, i64 0, i64 16
  %70 = bitcast float* %69 to <8 x float>*
  %71 = getelementptr inbounds [128 x float], [128 x float]* %0, i64 0, i64 24
  %72 = bitcast float* %71 to <8 x float>*
  %73 = getelementptr inbounds [128 x float], [128 x float]* %0, i64 0, i64 32
  %74 = bitcast float* %73 to <8 x float>*
  %75 = getelementptr inbounds [128 x float], [128 x float]* %0, i64 0, i64 40
  %76 = bitcast float* %75 to <8 x float>*
  %77 = getelementptr inbounds [128 x float], [128 x float]* %0, i64 0, i64 48
  %78 = bitcast float* %77 to <8 x float>*
  %79 = getelementptr inbounds [128 x float], [128 x float]* %0, i64 0, i64 56
  %80 = bitcast float* %79 to <8 x float>*
  %81 = getelementptr inbounds [128 x float], [128 x float]* %0, i64 0, i64 64
  %82 = bitcast float* %81 to <8 x float>*
  %83 = getelementptr inbounds [128 x float], [128 x float]* %0, i64 0, i64 72
  %84 = bitcast float* %83 to <8 x float>*
  %85 = getelementptr inbounds [128 x float], [128 x float]* %0, i64 0, i64 80
  %86 = bitcast float* %85 to <8 x float>*
  %87 = getelementptr inbounds [128 x float], [128 x float]* %0, i64 0, i64 88
  %88 = bitcast float* %87 to <8 x float>*
  %89 = getelementptr inbounds [128 x float], [128 x float]* %0, i64 0, i64 96
  %90 = bitcast float* %89 to <8 x float>*
  %91 = getelementptr inbounds [128 x float], [128 x float]* %0, i64 0, i64 104
  %92 = bitcast float* %91 to <8 x float>*
  %93 = getelementptr inbounds [128 x float], [128 x float]* %0, i64 0, i64 112
  %94 = bitcast float* %93 to <8 x float>*
  %95 = getelementptr inbounds [128 x float], [128 x float]* %0, i64 0, i64 120
  %96 = bitcast float* %95 to <8 x float>*
  %broadcast.splatinsert = insertelement <8 x float> poison, float %56, i64 0
  %broadcast.splat = shufflevector <8 x float> %broadcast.splatinsert, <8 x float> poison, <8 x i32> zeroinitializer
  %97 = shl i32 %.fr15, 1
  %98 = shl i32 %.fr15, 3
  %99 = zext i32 %98 to i64
  %100 = zext i32 %12 to i64
  %101 = zext i32 %65 to i64
  %102 = zext i32 %64 to i64
  br label %for_loop_body16.i

after_if.i:                                       ; preds = %after_if.i.preheader, %true_block9.i
  %lsr.iv488 = phi i64 [ 0, %after_if.i.preheader ], [ %lsr.iv.next489, %true_block9.i ]
  %.0244.i = phi i32 [ %127, %true_block9.i ], [ 0, %after_if.i.preheader ]
  %.0173243.i = phi float [ %.0190.lcssa.i, %true_block9.i ], [ 0.000000e+00, %after_if.i.preheader ]
  %.0177240.i = phi i32 [ %.0180.i, %true_block9.i ], [ 0, %after_if.i.preheader ]
  %.0178239.i = phi i32 [ %.0185.i, %true_block9.i ], [ 0, %after_if.i.preheader ]
  %.0179238.i = phi i32 [ %.0187.i, %true_block9.i ], [ 128, %after_if.i.preheader ]
  %103 = icmp eq i32 %.0244.i, %.0178239.i
  br i1 %103, label %true_block1.i, label %after_if3.i

true_block1.i:                                    ; preds = %after_if.i
  %104 = icmp eq i32 %.0177240.i, 16
  br i1 %104, label %for_loop_body.preheader.i, label %after_if6.i

for_loop_body.preheader.i:                        ; preds = %true_block1.i
  %105 = load float, float* %29, align 4
  store float %105, float* %30, align 4
  %106 = load i32, i32* %40, align 4
  store i32 %106, i32* %41, align 4
  %107 = load float, float* %27, align 4
  store float %107, float* %29, align 4
  %108 = load i32, i32* %38, align 4
  store i32 %108, i32* %40, align 4
  %109 = load float, float* %25, align 4
  store float %109, float* %28, align 4
  %110 = load i32, i32* %36, align 4
  store i32 %110, i32* %39, align 4
  %111 = load float, float* %23, align 4
  store float %111, float* %27, align 4
  %112 = load i32, i32* %34, align 4
  store i32 %112, i32* %38, align 4
  %113 = load float, float* %22, align 4
  store float %113, float* %26, align 4
  %114 = load i32, i32* %33, align 4
  store i32 %114, i32* %37, align 4
  %115 = load float, float* %21, align 4
  store float %115, float* %25, align 4
  %116 = load i32, i32* %32, align 4
  store i32 %116, i32* %36, align 4
  %117 = load float, float* %20, align 4
  store float %117, float* %24, align 4
  %118 = load i32, i32* %31, align 4
  store i32 %118, i32* %35, align 4
  br label %after_if6.i

after_if3.i:                                      ; preds = %after_if6.i, %after_if.i
  %.0187.i = phi i32 [ %121, %after_if6.i ], [ %.0179238.i, %after_if.i ]
  %.0185.i = phi i32 [ %123, %after_if6.i ], [ %.0178239.i, %after_if.i ]
  %.0180.i = phi i32 [ %122, %after_if6.i ], [ %.0177240.i, %after_if.i ]
  br i1 %43, label %true_block9.i, label %after_if11.lr.ph.i

after_if11.lr.ph.i:                               ; preds = %after_if3.i
  br label %after_if11.i

after_if6.i:                                      ; preds = %for_loop_body.preheader.i, %true_block1.i
  %119 = phi i32 [ %.0177240.i, %true_block1.i ], [ 8, %for_loop_body.preheader.i ]
  %120 = zext i1 %104 to i32
  %121 = shl i32 %.0179238.i, %120
  %122 = add i32 %119, 1
  %123 = add i32 %121, %.0244.i
  %124 = sext i32 %119 to i64
  %125 = getelementptr [32 x i32], [32 x i32]* %2, i64 0, i64 %124
  store i32 %.0244.i, i32* %125, align 4
  %126 = getelementptr [32 x float], [32 x float]* %1, i64 0, i64 %124
  store float %.0173243.i, float* %126, align 4
  br label %after_if3.i

true_block9.i.loopexit:                           ; preds = %after_if11.i
  br label %true_block9.i

true_block9.i:                                    ; preds = %true_block9.i.loopexit, %after_if3.i
  %.0198.lcssa.i = phi i1 [ false, %after_if3.i ], [ %141, %true_block9.i.loopexit ]
  %.0190.lcssa.i = phi float [ %.0173243.i, %after_if3.i ], [ %140, %true_block9.i.loopexit ]
  %127 = add nuw nsw i32 %.0244.i, 1
  %128 = and i32 %.0244.i, 127
  %129 = zext i32 %128 to i64
  %130 = getelementptr [128 x float], [128 x float]* %0, i64 0, i64 %129
  store float %.0173243.i, float* %130, align 4
  %131 = icmp sge i32 %127, %6
  %132 = or i1 %131, %.0198.lcssa.i
  %lsr.iv.next489 = add nuw nsw i64 %lsr.iv488, %44
  br i1 %132, label %true_block.i.loopexit, label %after_if.i

after_if11.i:                                     ; preds = %after_if11.i, %after_if11.lr.ph.i
  %lsr.iv486 = phi i64 [ %lsr.iv.next487, %after_if11.i ], [ 1, %after_if11.lr.ph.i ]
  %.0190234.i = phi float [ %.0173243.i, %after_if11.lr.ph.i ], [ %140, %after_if11.i ]
  %133 = add nuw nsw i64 %lsr.iv488, %lsr.iv486
  %134 = trunc i64 %133 to i32
  %135 = sext i32 %134 to i64
  %136 = getelementptr float, float* %10, i64 %135
  %137 = getelementptr float, float* %136, i64 -1
  %138 = load float, float* %137, align 4
  %139 = fmul reassoc ninf nsz float %138, %138
  %140 = fadd reassoc ninf nsz float %139, %.0190234.i
  %141 = fcmp reassoc ninf nsz ogt float %140, 4.000000e+00
  %142 = icmp uge i64 %lsr.iv486, %44
  %143 = or i1 %142, %141
  %lsr.iv.next487 = add nuw nsw i64 %lsr.iv486, 1
  br i1 %143, label %true_block9.i.loopexit, label %after_if11.i

for_loop_body16.i:                                ; preds = %after_for39.i, %for_loop_body16.lr.ph.i
  %lsr.iv403 = phi i32 [ %lsr.iv.next404, %after_for39.i ], [ %63, %for_loop_body16.lr.ph.i ]
  %indvars.iv255.i = phi i32 [ %59, %for_loop_body16.lr.ph.i ], [ %indvars.iv.next256.i, %after_for39.i ]
  %indvars.iv252.i = phi i32 [ %58, %for_loop_body16.lr.ph.i ], [ %indvars.iv.next253.i, %after_for39.i ]
  %.0199231.i = phi i32 [ %54, %for_loop_body16.lr.ph.i ], [ %1018, %after_for39.i ]
  %.0200230.i = phi i32 [ 0, %for_loop_body16.lr.ph.i ], [ %1019, %after_for39.i ]
  %smin525 = call i32 @llvm.smin.i32(i32 %.0176.lcssa.i, i32 %indvars.iv252.i)
  %smin526 = call i32 @llvm.smin.i32(i32 %smin525, i32 128)
  %144 = add i32 %smin526, %lsr.iv403
  %145 = mul i32 %12, %144
  %146 = zext i32 %145 to i64
  %147 = mul i32 %64, %144
  %148 = zext i32 %147 to i64
  %149 = mul i32 %65, %144
  %150 = zext i32 %149 to i64
  %151 = mul i32 %.fr15, %144
  %152 = zext i32 %151 to i64
  %153 = mul i32 %.0200230.i, -128
  %154 = add i32 %63, %153
  %155 = add i32 %smin526, %154
  %156 = mul i32 %12, %155
  %157 = mul i32 %.fr15, %155
  %158 = call i32 @llvm.smax.i32(i32 %smin526, i32 1)
  %smax = zext i32 %158 to i64
  %159 = sub i32 %55, %.0200230.i
  %160 = shl i32 %159, 7
  %161 = sub i32 %.0176.lcssa.i, %160
  %162 = tail call i32 @llvm.smin.i32(i32 %.0176.lcssa.i, i32 %161)
  %163 = tail call i32 @llvm.smin.i32(i32 %162, i32 128)
  %164 = sext i32 %.0199231.i to i64
  %165 = getelementptr [32 x i32], [32 x i32]* %2, i64 0, i64 %164
  %166 = load i32, i32* %165, align 4
  %167 = sub i32 %160, %166
  %168 = sub i32 32, %.0199231.i
  %169 = tail call i32 @llvm.smin.i32(i32 %168, i32 16)
  %170 = sdiv i32 %167, 128
  %171 = icmp slt i32 %167, 0
  %172 = shl nsw i32 %170, 7
  %173 = icmp ne i32 %160, %166
  %174 = icmp ne i32 %172, %167
  %175 = and i1 %171, %174
  %.neg206.i = sext i1 %175 to i32
  %176 = add i32 %170, %169
  %177 = add i32 %176, %.neg206.i
  %178 = icmp eq i32 %169, 0
  %179 = icmp eq i32 %169, -1
  %180 = icmp eq i32 %177, -2147483648
  %181 = and i1 %179, %180
  %182 = or i1 %178, %181
  %183 = select i1 %182, i32 1, i32 %169
  %184 = sdiv i32 %177, %183
  %185 = mul i32 %183, %184
  %186 = xor i32 %183, %177
  %187 = icmp slt i32 %186, 0
  %188 = icmp ne i32 %177, 0
  %189 = icmp ne i32 %185, %177
  %190 = and i1 %188, %187
  %191 = and i1 %189, %190
  %.neg207.i = sext i1 %191 to i32
  %192 = add i32 %184, %.neg207.i
  %.op.i = shl i32 %192, 7
  %193 = select i1 %178, i32 0, i32 %.op.i
  %194 = icmp eq i32 %193, 0
  %195 = select i1 %194, i32 1, i32 %193
  %196 = icmp eq i32 %.0200230.i, 0
  %197 = sdiv i32 %167, %195
  %198 = mul i32 %195, %197
  %199 = xor i32 %195, %167
  %200 = icmp slt i32 %199, 0
  %201 = icmp ne i32 %198, %167
  %202 = and i1 %173, %200
  %203 = and i1 %201, %202
  %.neg208.i = sext i1 %203 to i32
  %204 = add i32 %197, 1
  %.op209.i = add i32 %204, %.neg208.i
  %205 = select i1 %194, i32 1, i32 %.op209.i
  %206 = select i1 %196, i32 0, i32 %205
  %207 = tail call i32 @llvm.smin.i32(i32 %206, i32 %55)
  %208 = icmp sgt i32 %207, 0
  br i1 %208, label %for_loop_body20.lr.ph.i, label %after_for22.i

for_loop_body20.lr.ph.i:                          ; preds = %for_loop_body16.i
  %209 = getelementptr [32 x float], [32 x float]* %1, i64 0, i64 %164
  %210 = load float, float* %209, align 4
  %211 = add i32 %163, %160
  %212 = add i32 %smin526, %indvars.iv255.i
  %213 = sub i32 %212, %166
  %wide.trip.count.i = zext i32 %207 to i64
  br i1 %60, label %for_loop_body20.i.us.preheader, label %for_loop_body20.i.preheader

for_loop_body20.i.preheader:                      ; preds = %for_loop_body20.lr.ph.i
  %xtraiter89 = and i64 %wide.trip.count.i, 1
  %214 = icmp eq i32 %207, 1
  br i1 %214, label %after_for22.i.loopexit83.unr-lcssa, label %for_loop_body20.i.preheader.new

for_loop_body20.i.preheader.new:                  ; preds = %for_loop_body20.i.preheader
  %unroll_iter101 = and i64 %wide.trip.count.i, 4294967294
  %215 = mul i32 %.fr15, %166
  %216 = zext i32 %215 to i64
  %217 = mul i32 %97, %193
  %218 = zext i32 %217 to i64
  %219 = add i32 %166, 1
  %220 = mul i32 %.fr15, %219
  %221 = zext i32 %220 to i64
  %222 = add i32 %166, 2
  %223 = mul i32 %.fr15, %222
  %224 = zext i32 %223 to i64
  %225 = add i32 %166, 3
  %226 = mul i32 %.fr15, %225
  %227 = zext i32 %226 to i64
  %228 = add i32 %166, 4
  %229 = mul i32 %.fr15, %228
  %230 = zext i32 %229 to i64
  %231 = add i32 %166, 5
  %232 = mul i32 %.fr15, %231
  %233 = zext i32 %232 to i64
  %234 = add i32 %166, 6
  %235 = mul i32 %.fr15, %234
  %236 = zext i32 %235 to i64
  %237 = add i32 %166, 7
  %238 = mul i32 %.fr15, %237
  %239 = zext i32 %238 to i64
  %240 = shl i32 %193, 1
  %241 = add i32 %193, %166
  %242 = mul i32 %.fr15, %241
  %243 = zext i32 %242 to i64
  %244 = add i32 %193, 1
  %245 = add i32 %244, %166
  %246 = mul i32 %.fr15, %245
  %247 = zext i32 %246 to i64
  %248 = add i32 %193, 2
  %249 = add i32 %248, %166
  %250 = mul i32 %.fr15, %249
  %251 = zext i32 %250 to i64
  %252 = add i32 %193, 3
  %253 = add i32 %252, %166
  %254 = mul i32 %.fr15, %253
  %255 = zext i32 %254 to i64
  %256 = add i32 %193, 4
  %257 = add i32 %256, %166
  %258 = mul i32 %.fr15, %257
  %259 = zext i32 %258 to i64
  %260 = add i32 %193, 5
  %261 = add i32 %260, %166
  %262 = mul i32 %.fr15, %261
  %263 = zext i32 %262 to i64
  %264 = add i32 %193, 6
  %265 = add i32 %264, %166
  %266 = mul i32 %.fr15, %265
  %267 = zext i32 %266 to i64
  %268 = add i32 %193, 7
  %269 = add i32 %268, %166
  %270 = mul i32 %.fr15, %269
  %271 = zext i32 %270 to i64
  br label %for_loop_body20.i

for_loop_body20.i.us.preheader:                   ; preds = %for_loop_body20.lr.ph.i
  %272 = sub i32 0, %193
  %xtraiter119 = and i64 %wide.trip.count.i, 1
  %273 = icmp eq i32 %207, 1
  br i1 %273, label %after_for22.i.loopexit.unr-lcssa, label %for_loop_body20.i.us.preheader.new

for_loop_body20.i.us.preheader.new:               ; preds = %for_loop_body20.i.us.preheader
  %unroll_iter125 = and i64 %wide.trip.count.i, 4294967294
  %broadcast.splatinsert71 = insertelement <8 x float> poison, float %210, i64 0
  %broadcast.splat72 = shufflevector <8 x float> %broadcast.splatinsert71, <8 x float> poison, <8 x i32> zeroinitializer
  %274 = sub i32 %212, %193
  %275 = sub i32 %274, %166
  %276 = shl i32 %193, 1
  br label %for_loop_body20.i.us

for_loop_body20.i.us:                             ; preds = %after_for26.i.us.1, %for_loop_body20.i.us.preheader.new
  %lsr.iv361 = phi i32 [ %lsr.iv.next362, %after_for26.i.us.1 ], [ %275, %for_loop_body20.i.us.preheader.new ]
  %indvars.iv260.i.us = phi i64 [ 0, %for_loop_body20.i.us.preheader.new ], [ %indvars.iv.next261.i.us.1, %after_for26.i.us.1 ]
  %indvars.iv257.i.us = phi i32 [ %213, %for_loop_body20.i.us.preheader.new ], [ %indvars.iv.next258.i.us.1, %after_for26.i.us.1 ]
  %smin524 = call i32 @llvm.smin.i32(i32 %193, i32 %lsr.iv361)
  %277 = add i32 %smin524, -32
  %278 = lshr i32 %277, 5
  %279 = add nuw nsw i32 %278, 1
  %280 = lshr i32 %279, 3
  %281 = shl nuw nsw i32 %280, 3
  %282 = add nsw i32 %281, -8
  %283 = lshr i32 %282, 3
  %284 = shl i32 %283, 8
  %285 = add i32 %284, 256
  %smin523 = call i32 @llvm.smin.i32(i32 %193, i32 %indvars.iv257.i.us)
  %286 = add i32 %smin523, -32
  %287 = lshr i32 %286, 5
  %288 = add nuw nsw i32 %287, 1
  %289 = lshr i32 %288, 3
  %290 = shl nuw nsw i32 %289, 3
  %291 = add nsw i32 %290, -8
  %292 = lshr i32 %291, 3
  %293 = shl i32 %292, 8
  %294 = add i32 %293, 256
  %295 = mul i32 %smin524, -1
  %296 = trunc i32 %smin524 to i3
  %297 = zext i3 %296 to i64
  %298 = trunc i32 %278 to i3
  %299 = add i3 %298, 1
  %300 = zext i3 %299 to i32
  %301 = mul i32 %smin523, -1
  %302 = trunc i32 %smin523 to i3
  %303 = zext i3 %302 to i64
  %304 = trunc i32 %287 to i3
  %305 = add i3 %304, 1
  %306 = zext i3 %305 to i32
  %307 = trunc i64 %indvars.iv260.i.us to i32
  %308 = mul i32 %307, %272
  %309 = add i32 %308, %213
  %smin110 = call i32 @llvm.smin.i32(i32 %193, i32 %309)
  %310 = add i32 %smin110, -32
  %311 = lshr i32 %310, 5
  %312 = add nuw nsw i32 %311, 1
  %313 = mul i32 %193, %307
  %314 = add i32 %313, %166
  %315 = add i32 %.0199231.i, %307
  %316 = sub i32 %211, %314
  %317 = tail call i32 @llvm.smin.i32(i32 %316, i32 %193)
  %318 = icmp sgt i32 %317, 0
  br i1 %318, label %for_loop_body24.i.us.us.preheader, label %after_for26.i.us

for_loop_body24.i.us.us.preheader:                ; preds = %for_loop_body20.i.us
  %min.iters.check63 = icmp ult i32 %smin110, 32
  %319 = add i32 %smin110, -129
  %320 = icmp ult i32 %319, -128
  %or.cond = select i1 %min.iters.check63, i1 true, i1 %320
  br i1 %or.cond, label %for_loop_body24.i.us.us.preheader82, label %vector.ph64

vector.ph64:                                      ; preds = %for_loop_body24.i.us.us.preheader
  %n.vec66 = and i32 %smin110, -32
  %xtraiter111 = and i32 %312, 7
  %321 = icmp ult i32 %310, 224
  br i1 %321, label %middle.block61.unr-lcssa, label %vector.ph64.new

vector.ph64.new:                                  ; preds = %vector.ph64
  br label %vector.body69

vector.body69:                                    ; preds = %vector.body69, %vector.ph64.new
  br i1 true, label %middle.block61.unr-lcssa.loopexit, label %vector.body69, !llvm.loop !6

middle.block61.unr-lcssa.loopexit:                ; preds = %vector.body69
  store <8 x float> %broadcast.splat72, <8 x float>* %66, align 4
  store <8 x float> %broadcast.splat72, <8 x float>* %68, align 4
  store <8 x float> %broadcast.splat72, <8 x float>* %70, align 4
  store <8 x float> %broadcast.splat72, <8 x float>* %72, align 4
  store <8 x float> %broadcast.splat72, <8 x float>* %74, align 4
  store <8 x float> %broadcast.splat72, <8 x float>* %76, align 4
  store <8 x float> %broadcast.splat72, <8 x float>* %78, align 4
  store <8 x float> %broadcast.splat72, <8 x float>* %80, align 4
  store <8 x float> %broadcast.splat72, <8 x float>* %82, align 4
  store <8 x float> %broadcast.splat72, <8 x float>* %84, align 4
  store <8 x float> %broadcast.splat72, <8 x float>* %86, align 4
  store <8 x float> %broadcast.splat72, <8 x float>* %88, align 4
  store <8 x float> %broadcast.splat72, <8 x float>* %90, align 4
  store <8 x float> %broadcast.splat72, <8 x float>* %92, align 4
  store <8 x float> %broadcast.splat72, <8 x float>* %94, align 4
  store <8 x float> %broadcast.splat72, <8 x float>* %96, align 4
  br label %middle.block61.unr-lcssa

middle.block61.unr-lcssa:                         ; preds = %middle.block61.unr-lcssa.loopexit, %vector.ph64
  %index70.unr = phi i32 [ 0, %vector.ph64 ], [ %294, %middle.block61.unr-lcssa.loopexit ]
  %lcmp.mod113.not = icmp eq i32 %xtraiter111, 0
  br i1 %lcmp.mod113.not, label %middle.block61, label %vector.body69.epil.preheader

vector.body69.epil.preheader:                     ; preds = %middle.block61.unr-lcssa
  br label %vector.body69.epil

vector.body69.epil:                               ; preds = %vector.body69.epil.preheader, %vector.body69.epil
  %lsr.iv346 = phi i32 [ %306, %vector.body69.epil.preheader ], [ %lsr.iv.next347, %vector.body69.epil ]
  %index70.epil = phi i32 [ %index.next79.epil, %vector.body69.epil ], [ %index70.unr, %vector.body69.epil.preheader ]
  %322 = and i32 %index70.epil, 96
  %323 = zext i32 %322 to i64
  %324 = getelementptr [128 x float], [128 x float]* %0, i64 0, i64 %323
  %325 = bitcast float* %324 to <8 x float>*
  store <8 x float> %broadcast.splat72, <8 x float>* %325, align 4
  %326 = getelementptr float, float* %324, i64 8
  %327 = bitcast float* %326 to <8 x float>*
  store <8 x float> %broadcast.splat72, <8 x float>* %327, align 4
  %328 = getelementptr float, float* %324, i64 16
  %329 = bitcast float* %328 to <8 x float>*
  store <8 x float> %broadcast.splat72, <8 x float>* %329, align 4
  %330 = getelementptr float, float* %324, i64 24
  %331 = bitcast float* %330 to <8 x float>*
  store <8 x float> %broadcast.splat72, <8 x float>* %331, align 4
  %index.next79.epil = add nuw nsw i32 %index70.epil, 32
  %lsr.iv.next347 = add nsw i32 %lsr.iv346, -1
  %epil.iter112.cmp.not = icmp eq i32 %lsr.iv.next347, 0
  br i1 %epil.iter112.cmp.not, label %middle.block61.loopexit, label %vector.body69.epil, !llvm.loop !8

middle.block61.loopexit:                          ; preds = %vector.body69.epil
  br label %middle.block61

middle.block61:                                   ; preds = %middle.block61.loopexit, %middle.block61.unr-lcssa
  %cmp.n68 = icmp eq i32 %smin110, %n.vec66
  br i1 %cmp.n68, label %after_for26.i.us, label %for_loop_body24.i.us.us.preheader82

for_loop_body24.i.us.us.preheader82:              ; preds = %for_loop_body24.i.us.us.preheader, %middle.block61
  %.0194219.i.us.us.ph = phi i32 [ 0, %for_loop_body24.i.us.us.preheader ], [ %n.vec66, %middle.block61 ]
  %332 = xor i32 %.0194219.i.us.us.ph, -1
  %333 = add i32 %smin523, %332
  %xtraiter117 = and i32 %smin523, 7
  %lcmp.mod118.not = icmp eq i32 %xtraiter117, 0
  br i1 %lcmp.mod118.not, label %for_loop_body24.i.us.us.prol.loopexit, label %for_loop_body24.i.us.us.prol.preheader

for_loop_body24.i.us.us.prol.preheader:           ; preds = %for_loop_body24.i.us.us.preheader82
  %334 = trunc i32 %.0194219.i.us.us.ph to i7
  %335 = zext i7 %334 to i64
  %scevgep351 = getelementptr [128 x float], [128 x float]* %0, i64 0, i64 %335
  br label %for_loop_body24.i.us.us.prol

for_loop_body24.i.us.us.prol:                     ; preds = %for_loop_body24.i.us.us.prol.preheader, %for_loop_body24.i.us.us.prol
  %lsr.iv348 = phi i64 [ 0, %for_loop_body24.i.us.us.prol.preheader ], [ %lsr.iv.next349, %for_loop_body24.i.us.us.prol ]
  %scevgep352 = getelementptr float, float* %scevgep351, i64 %lsr.iv348
  store float %210, float* %scevgep352, align 4
  %lsr.iv.next349 = add nuw nsw i64 %lsr.iv348, 1
  %tmp354 = trunc i64 %lsr.iv.next349 to i32
  %tmp355 = trunc i64 %303 to i32
  %prol.iter.cmp.not = icmp eq i32 %tmp355, %tmp354
  br i1 %prol.iter.cmp.not, label %for_loop_body24.i.us.us.prol.loopexit.loopexit, label %for_loop_body24.i.us.us.prol, !llvm.loop !10

for_loop_body24.i.us.us.prol.loopexit.loopexit:   ; preds = %for_loop_body24.i.us.us.prol
  %336 = zext i32 %.0194219.i.us.us.ph to i64
  %337 = add i64 %336, %lsr.iv.next349
  %tmp350 = trunc i64 %337 to i32
  br label %for_loop_body24.i.us.us.prol.loopexit

for_loop_body24.i.us.us.prol.loopexit:            ; preds = %for_loop_body24.i.us.us.prol.loopexit.loopexit, %for_loop_body24.i.us.us.preheader82
  %.0194219.i.us.us.unr = phi i32 [ %.0194219.i.us.us.ph, %for_loop_body24.i.us.us.preheader82 ], [ %tmp350, %for_loop_body24.i.us.us.prol.loopexit.loopexit ]
  %338 = icmp ult i32 %333, 7
  br i1 %338, label %after_for26.i.us, label %for_loop_body24.i.us.us.preheader173

for_loop_body24.i.us.us.preheader173:             ; preds = %for_loop_body24.i.us.us.prol.loopexit
  %339 = add nuw i32 %.0194219.i.us.us.unr, 7
  br label %for_loop_body24.i.us.us

after_for26.i.us.loopexit:                        ; preds = %for_loop_body24.i.us.us
  br label %after_for26.i.us

after_for26.i.us:                                 ; preds = %after_for26.i.us.loopexit, %for_loop_body24.i.us.us.prol.loopexit, %middle.block61, %for_loop_body20.i.us
  %340 = sext i32 %315 to i64
  %341 = getelementptr [32 x i32], [32 x i32]* %2, i64 0, i64 %340
  store i32 %314, i32* %341, align 4
  %342 = getelementptr [32 x float], [32 x float]* %1, i64 0, i64 %340
  store float %210, float* %342, align 4
  %indvars.iv.next261.i.us = or i64 %indvars.iv260.i.us, 1
  %indvars.iv.next258.i.us = sub i32 %indvars.iv257.i.us, %193
  %smin116.1 = call i32 @llvm.smin.i32(i32 %193, i32 %indvars.iv.next258.i.us)
  %343 = trunc i64 %indvars.iv.next261.i.us to i32
  %344 = mul i32 %343, %272
  %345 = add i32 %344, %213
  %smin110.1 = call i32 @llvm.smin.i32(i32 %193, i32 %345)
  %346 = add i32 %smin110.1, -32
  %347 = lshr i32 %346, 5
  %348 = add nuw nsw i32 %347, 1
  %349 = mul i32 %193, %343
  %350 = add i32 %349, %166
  %351 = add i32 %.0199231.i, %343
  %352 = sub i32 %211, %350
  %353 = tail call i32 @llvm.smin.i32(i32 %352, i32 %193)
  %354 = icmp sgt i32 %353, 0
  br i1 %354, label %for_loop_body24.i.us.us.preheader.1, label %after_for26.i.us.1

for_loop_body24.i.us.us.preheader.1:              ; preds = %after_for26.i.us
  %min.iters.check63.1 = icmp ult i32 %smin110.1, 32
  %355 = add i32 %smin110.1, -129
  %356 = icmp ult i32 %355, -128
  %or.cond.1 = select i1 %min.iters.check63.1, i1 true, i1 %356
  br i1 %or.cond.1, label %for_loop_body24.i.us.us.preheader82.1, label %vector.ph64.1

vector.ph64.1:                                    ; preds = %for_loop_body24.i.us.us.preheader.1
  %n.vec66.1 = and i32 %smin110.1, -32
  %xtraiter111.1 = and i32 %348, 7
  %357 = icmp ult i32 %346, 224
  br i1 %357, label %middle.block61.unr-lcssa.1, label %vector.ph64.new.1

vector.ph64.new.1:                                ; preds = %vector.ph64.1
  br label %vector.body69.1

vector.body69.1:                                  ; preds = %vector.body69.1, %vector.ph64.new.1
  br i1 true, label %middle.block61.unr-lcssa.loopexit.1, label %vector.body69.1, !llvm.loop !6

middle.block61.unr-lcssa.loopexit.1:              ; preds = %vector.body69.1
  store <8 x float> %broadcast.splat72, <8 x float>* %66, align 4
  store <8 x float> %broadcast.splat72, <8 x float>* %68, align 4
  store <8 x float> %broadcast.splat72, <8 x float>* %70, align 4
  store <8 x float> %broadcast.splat72, <8 x float>* %72, align 4
  store <8 x float> %broadcast.splat72, <8 x float>* %74, align 4
  store <8 x float> %broadcast.splat72, <8 x float>* %76, align 4
  store <8 x float> %broadcast.splat72, <8 x float>* %78, align 4
  store <8 x float> %broadcast.splat72, <8 x float>* %80, align 4
  store <8 x float> %broadcast.splat72, <8 x float>* %82, align 4
  store <8 x float> %broadcast.splat72, <8 x float>* %84, align 4
  store <8 x float> %broadcast.splat72, <8 x float>* %86, align 4
  store <8 x float> %broadcast.splat72, <8 x float>* %88, align 4
  store <8 x float> %broadcast.splat72, <8 x float>* %90, align 4
  store <8 x float> %broadcast.splat72, <8 x float>* %92, align 4
  store <8 x float> %broadcast.splat72, <8 x float>* %94, align 4
  store <8 x float> %broadcast.splat72, <8 x float>* %96, align 4
  br label %middle.block61.unr-lcssa.1

middle.block61.unr-lcssa.1:                       ; preds = %middle.block61.unr-lcssa.loopexit.1, %vector.ph64.1
  %index70.unr.1 = phi i32 [ 0, %vector.ph64.1 ], [ %285, %middle.block61.unr-lcssa.loopexit.1 ]
  %lcmp.mod113.1.not = icmp eq i32 %xtraiter111.1, 0
  br i1 %lcmp.mod113.1.not, label %middle.block61.1, label %vector.body69.epil.1.preheader

vector.body69.epil.1.preheader:                   ; preds = %middle.block61.unr-lcssa.1
  br label %vector.body69.epil.1

vector.body69.epil.1:                             ; preds = %vector.body69.epil.1.preheader, %vector.body69.epil.1
  %lsr.iv367 = phi i32 [ %300, %vector.body69.epil.1.preheader ], [ %lsr.iv.next368, %vector.body69.epil.1 ]
  %index70.epil.1 = phi i32 [ %index.next79.epil.1, %vector.body69.epil.1 ], [ %index70.unr.1, %vector.body69.epil.1.preheader ]
  %358 = and i32 %index70.epil.1, 96
  %359 = zext i32 %358 to i64
  %360 = getelementptr [128 x float], [128 x float]* %0, i64 0, i64 %359
  %361 = bitcast float* %360 to <8 x float>*
  store <8 x float> %broadcast.splat72, <8 x float>* %361, align 4
  %362 = getelementptr float, float* %360, i64 8
  %363 = bitcast float* %362 to <8 x float>*
  store <8 x float> %broadcast.splat72, <8 x float>* %363, align 4
  %364 = getelementptr float, float* %360, i64 16
  %365 = bitcast float* %364 to <8 x float>*
  store <8 x float> %broadcast.splat72, <8 x float>* %365, align 4
  %366 = getelementptr float, float* %360, i64 24
  %367 = bitcast float* %366 to <8 x float>*
  store <8 x float> %broadcast.splat72, <8 x float>* %367, align 4
  %index.next79.epil.1 = add nuw nsw i32 %index70.epil.1, 32
  %lsr.iv.next368 = add nsw i32 %lsr.iv367, -1
  %epil.iter112.cmp.1.not = icmp eq i32 %lsr.iv.next368, 0
  br i1 %epil.iter112.cmp.1.not, label %middle.block61.1.loopexit, label %vector.body69.epil.1, !llvm.loop !8

middle.block61.1.loopexit:                        ; preds = %vector.body69.epil.1
  br label %middle.block61.1

middle.block61.1:                                 ; preds = %middle.block61.1.loopexit, %middle.block61.unr-lcssa.1
  %cmp.n68.1 = icmp eq i32 %smin110.1, %n.vec66.1
  br i1 %cmp.n68.1, label %after_for26.i.us.1, label %for_loop_body24.i.us.us.preheader82.1

for_loop_body24.i.us.us.preheader82.1:            ; preds = %middle.block61.1, %for_loop_body24.i.us.us.preheader.1
  %.0194219.i.us.us.ph.1 = phi i32 [ 0, %for_loop_body24.i.us.us.preheader.1 ], [ %n.vec66.1, %middle.block61.1 ]
  %368 = xor i32 %.0194219.i.us.us.ph.1, -1
  %369 = add i32 %smin116.1, %368
  %xtraiter117.1 = and i32 %smin116.1, 7
  %lcmp.mod118.1.not = icmp eq i32 %xtraiter117.1, 0
  br i1 %lcmp.mod118.1.not, label %for_loop_body24.i.us.us.prol.loopexit.1, label %for_loop_body24.i.us.us.prol.1.preheader

for_loop_body24.i.us.us.prol.1.preheader:         ; preds = %for_loop_body24.i.us.us.preheader82.1
  %370 = trunc i32 %.0194219.i.us.us.ph.1 to i7
  %371 = zext i7 %370 to i64
  %scevgep372 = getelementptr [128 x float], [128 x float]* %0, i64 0, i64 %371
  br label %for_loop_body24.i.us.us.prol.1

for_loop_body24.i.us.us.prol.1:                   ; preds = %for_loop_body24.i.us.us.prol.1.preheader, %for_loop_body24.i.us.us.prol.1
  %lsr.iv369 = phi i64 [ 0, %for_loop_body24.i.us.us.prol.1.preheader ], [ %lsr.iv.next370, %for_loop_body24.i.us.us.prol.1 ]
  %scevgep373 = getelementptr float, float* %scevgep372, i64 %lsr.iv369
  store float %210, float* %scevgep373, align 4
  %lsr.iv.next370 = add nuw nsw i64 %lsr.iv369, 1
  %tmp375 = trunc i64 %lsr.iv.next370 to i32
  %tmp376 = trunc i64 %297 to i32
  %prol.iter.cmp.1.not = icmp eq i32 %tmp376, %tmp375
  br i1 %prol.iter.cmp.1.not, label %for_loop_body24.i.us.us.prol.loopexit.1.loopexit, label %for_loop_body24.i.us.us.prol.1, !llvm.loop !10

for_loop_body24.i.us.us.prol.loopexit.1.loopexit: ; preds = %for_loop_body24.i.us.us.prol.1
  %372 = zext i32 %.0194219.i.us.us.ph.1 to i64
  %373 = add i64 %372, %lsr.iv.next370
  %tmp371 = trunc i64 %373 to i32
  br label %for_loop_body24.i.us.us.prol.loopexit.1

for_loop_body24.i.us.us.prol.loopexit.1:          ; preds = %for_loop_body24.i.us.us.prol.loopexit.1.loopexit, %for_loop_body24.i.us.us.preheader82.1
  %.0194219.i.us.us.unr.1 = phi i32 [ %.0194219.i.us.us.ph.1, %for_loop_body24.i.us.us.preheader82.1 ], [ %tmp371, %for_loop_body24.i.us.us.prol.loopexit.1.loopexit ]
  %374 = icmp ult i32 %369, 7
  br i1 %374, label %after_for26.i.us.1, label %for_loop_body24.i.us.us.1.preheader

for_loop_body24.i.us.us.1.preheader:              ; preds = %for_loop_body24.i.us.us.prol.loopexit.1
  %375 = add nuw i32 %.0194219.i.us.us.unr.1, 7
  br label %for_loop_body24.i.us.us.1

for_loop_body24.i.us.us.1:                        ; preds = %for_loop_body24.i.us.us.1.preheader, %for_loop_body24.i.us.us.1
  %lsr.iv378 = phi i32 [ %375, %for_loop_body24.i.us.us.1.preheader ], [ %lsr.iv.next379, %for_loop_body24.i.us.us.1 ]
  %376 = add i32 %lsr.iv378, -7
  %377 = and i32 %376, 127
  %378 = zext i32 %377 to i64
  %379 = getelementptr [128 x float], [128 x float]* %0, i64 0, i64 %378
  store float %210, float* %379, align 4
  %380 = add i32 %lsr.iv378, -6
  %381 = and i32 %380, 127
  %382 = zext i32 %381 to i64
  %383 = getelementptr [128 x float], [128 x float]* %0, i64 0, i64 %382
  store float %210, float* %383, align 4
  %384 = add i32 %lsr.iv378, -5
  %385 = and i32 %384, 127
  %386 = zext i32 %385 to i64
  %387 = getelementptr [128 x float], [128 x float]* %0, i64 0, i64 %386
  store float %210, float* %387, align 4
  %388 = add i32 %lsr.iv378, -4
  %389 = and i32 %388, 127
  %390 = zext i32 %389 to i64
  %391 = getelementptr [128 x float], [128 x float]* %0, i64 0, i64 %390
  store float %210, float* %391, align 4
  %392 = add i32 %lsr.iv378, -3
  %393 = and i32 %392, 127
  %394 = zext i32 %393 to i64
  %395 = getelementptr [128 x float], [128 x float]* %0, i64 0, i64 %394
  store float %210, float* %395, align 4
  %396 = add i32 %lsr.iv378, -2
  %397 = and i32 %396, 127
  %398 = zext i32 %397 to i64
  %399 = getelementptr [128 x float], [128 x float]* %0, i64 0, i64 %398
  store float %210, float* %399, align 4
  %400 = add i32 %lsr.iv378, -1
  %401 = and i32 %400, 127
  %402 = zext i32 %401 to i64
  %403 = getelementptr [128 x float], [128 x float]* %0, i64 0, i64 %402
  store float %210, float* %403, align 4
  %404 = and i32 %lsr.iv378, 127
  %405 = zext i32 %404 to i64
  %406 = getelementptr [128 x float], [128 x float]* %0, i64 0, i64 %405
  store float %210, float* %406, align 4
  %lsr.iv.next379 = add i32 %lsr.iv378, 8
  %407 = add i32 %295, %lsr.iv.next379
  %exitcond.not.i.us.us.7.1 = icmp eq i32 %407, 7
  br i1 %exitcond.not.i.us.us.7.1, label %after_for26.i.us.1.loopexit, label %for_loop_body24.i.us.us.1, !llvm.loop !11

after_for26.i.us.1.loopexit:                      ; preds = %for_loop_body24.i.us.us.1
  br label %after_for26.i.us.1

after_for26.i.us.1:                               ; preds = %after_for26.i.us.1.loopexit, %for_loop_body24.i.us.us.prol.loopexit.1, %middle.block61.1, %after_for26.i.us
  %408 = sext i32 %351 to i64
  %409 = getelementptr [32 x i32], [32 x i32]* %2, i64 0, i64 %408
  store i32 %350, i32* %409, align 4
  %410 = getelementptr [32 x float], [32 x float]* %1, i64 0, i64 %408
  store float %210, float* %410, align 4
  %indvars.iv.next261.i.us.1 = add nuw nsw i64 %indvars.iv260.i.us, 2
  %indvars.iv.next258.i.us.1 = sub i32 %indvars.iv.next258.i.us, %193
  %lsr.iv.next362 = sub i32 %lsr.iv361, %276
  %niter126.ncmp.1 = icmp eq i64 %indvars.iv.next261.i.us.1, %unroll_iter125
  br i1 %niter126.ncmp.1, label %after_for22.i.loopexit.unr-lcssa.loopexit, label %for_loop_body20.i.us

for_loop_body24.i.us.us:                          ; preds = %for_loop_body24.i.us.us.preheader173, %for_loop_body24.i.us.us
  %lsr.iv357 = phi i32 [ %339, %for_loop_body24.i.us.us.preheader173 ], [ %lsr.iv.next358, %for_loop_body24.i.us.us ]
  %411 = add i32 %lsr.iv357, -7
  %412 = and i32 %411, 127
  %413 = zext i32 %412 to i64
  %414 = getelementptr [128 x float], [128 x float]* %0, i64 0, i64 %413
  store float %210, float* %414, align 4
  %415 = add i32 %lsr.iv357, -6
  %416 = and i32 %415, 127
  %417 = zext i32 %416 to i64
  %418 = getelementptr [128 x float], [128 x float]* %0, i64 0, i64 %417
  store float %210, float* %418, align 4
  %419 = add i32 %lsr.iv357, -5
  %420 = and i32 %419, 127
  %421 = zext i32 %420 to i64
  %422 = getelementptr [128 x float], [128 x float]* %0, i64 0, i64 %421
  store float %210, float* %422, align 4
  %423 = add i32 %lsr.iv357, -4
  %424 = and i32 %423, 127
  %425 = zext i32 %424 to i64
  %426 = getelementptr [128 x float], [128 x float]* %0, i64 0, i64 %425
  store float %210, float* %426, align 4
  %427 = add i32 %lsr.iv357, -3
  %428 = and i32 %427, 127
  %429 = zext i32 %428 to i64
  %430 = getelementptr [128 x float], [128 x float]* %0, i64 0, i64 %429
  store float %210, float* %430, align 4
  %431 = add i32 %lsr.iv357, -2
  %432 = and i32 %431, 127
  %433 = zext i32 %432 to i64
  %434 = getelementptr [128 x float], [128 x float]* %0, i64 0, i64 %433
  store float %210, float* %434, align 4
  %435 = add i32 %lsr.iv357, -1
  %436 = and i32 %435, 127
  %437 = zext i32 %436 to i64
  %438 = getelementptr [128 x float], [128 x float]* %0, i64 0, i64 %437
  store float %210, float* %438, align 4
  %439 = and i32 %lsr.iv357, 127
  %440 = zext i32 %439 to i64
  %441 = getelementptr [128 x float], [128 x float]* %0, i64 0, i64 %440
  store float %210, float* %441, align 4
  %lsr.iv.next358 = add i32 %lsr.iv357, 8
  %442 = add i32 %301, %lsr.iv.next358
  %exitcond.not.i.us.us.7 = icmp eq i32 %442, 7
  br i1 %exitcond.not.i.us.us.7, label %after_for26.i.us.loopexit, label %for_loop_body24.i.us.us, !llvm.loop !11

for_loop_body20.i:                                ; preds = %after_for26.i.1, %for_loop_body20.i.preheader.new
  %lsr.iv292 = phi i32 [ %lsr.iv.next293, %after_for26.i.1 ], [ %241, %for_loop_body20.i.preheader.new ]
  %lsr.iv285 = phi i64 [ %lsr.iv.next286, %after_for26.i.1 ], [ %271, %for_loop_body20.i.preheader.new ]
  %lsr.iv278 = phi i64 [ %lsr.iv.next279, %after_for26.i.1 ], [ %267, %for_loop_body20.i.preheader.new ]
  %lsr.iv271 = phi i64 [ %lsr.iv.next272, %after_for26.i.1 ], [ %263, %for_loop_body20.i.preheader.new ]
  %lsr.iv264 = phi i64 [ %lsr.iv.next265, %after_for26.i.1 ], [ %259, %for_loop_body20.i.preheader.new ]
  %lsr.iv257 = phi i64 [ %lsr.iv.next258, %after_for26.i.1 ], [ %255, %for_loop_body20.i.preheader.new ]
  %lsr.iv250 = phi i64 [ %lsr.iv.next251, %after_for26.i.1 ], [ %251, %for_loop_body20.i.preheader.new ]
  %lsr.iv243 = phi i64 [ %lsr.iv.next244, %after_for26.i.1 ], [ %247, %for_loop_body20.i.preheader.new ]
  %lsr.iv236 = phi i64 [ %lsr.iv.next237, %after_for26.i.1 ], [ %243, %for_loop_body20.i.preheader.new ]
  %lsr.iv229 = phi i32 [ %lsr.iv.next230, %after_for26.i.1 ], [ %166, %for_loop_body20.i.preheader.new ]
  %lsr.iv222 = phi i64 [ %lsr.iv.next223, %after_for26.i.1 ], [ %239, %for_loop_body20.i.preheader.new ]
  %lsr.iv215 = phi i64 [ %lsr.iv.next216, %after_for26.i.1 ], [ %236, %for_loop_body20.i.preheader.new ]
  %lsr.iv208 = phi i64 [ %lsr.iv.next209, %after_for26.i.1 ], [ %233, %for_loop_body20.i.preheader.new ]
  %lsr.iv201 = phi i64 [ %lsr.iv.next202, %after_for26.i.1 ], [ %230, %for_loop_body20.i.preheader.new ]
  %lsr.iv194 = phi i64 [ %lsr.iv.next195, %after_for26.i.1 ], [ %227, %for_loop_body20.i.preheader.new ]
  %lsr.iv187 = phi i64 [ %lsr.iv.next188, %after_for26.i.1 ], [ %224, %for_loop_body20.i.preheader.new ]
  %lsr.iv180 = phi i64 [ %lsr.iv.next181, %after_for26.i.1 ], [ %221, %for_loop_body20.i.preheader.new ]
  %lsr.iv174 = phi i64 [ %lsr.iv.next175, %after_for26.i.1 ], [ %216, %for_loop_body20.i.preheader.new ]
  %indvars.iv260.i = phi i64 [ 0, %for_loop_body20.i.preheader.new ], [ %indvars.iv.next261.i.1, %after_for26.i.1 ]
  %indvars.iv257.i = phi i32 [ %213, %for_loop_body20.i.preheader.new ], [ %indvars.iv.next258.i.1, %after_for26.i.1 ]
  %.0197221.i = phi float [ %210, %for_loop_body20.i.preheader.new ], [ %.0195.lcssa.i.1, %after_for26.i.1 ]
  %smin87 = call i32 @llvm.smin.i32(i32 %193, i32 %indvars.iv257.i)
  %443 = trunc i64 %indvars.iv260.i to i32
  %444 = mul i32 %193, %443
  %445 = add i32 %444, %166
  %446 = add i32 %.0199231.i, %443
  %447 = sub i32 %211, %445
  %448 = tail call i32 @llvm.smin.i32(i32 %447, i32 %193)
  %449 = icmp sgt i32 %448, 0
  br i1 %449, label %for_loop_body24.i.preheader, label %after_for26.i

for_loop_body24.i.preheader:                      ; preds = %for_loop_body20.i
  %450 = add i32 %smin87, -1
  %xtraiter = and i32 %smin87, 7
  %451 = icmp ult i32 %450, 7
  br i1 %451, label %after_for26.i.loopexit.unr-lcssa, label %for_loop_body24.i.preheader.new

for_loop_body24.i.preheader.new:                  ; preds = %for_loop_body24.i.preheader
  %unroll_iter = and i32 %smin87, -8
  br label %for_loop_body24.i

after_for22.i.loopexit.unr-lcssa.loopexit:        ; preds = %after_for26.i.us.1
  br label %after_for22.i.loopexit.unr-lcssa

after_for22.i.loopexit.unr-lcssa:                 ; preds = %after_for22.i.loopexit.unr-lcssa.loopexit, %for_loop_body20.i.us.preheader
  %indvars.iv260.i.us.unr = phi i64 [ 0, %for_loop_body20.i.us.preheader ], [ %indvars.iv.next261.i.us.1, %after_for22.i.loopexit.unr-lcssa.loopexit ]
  %indvars.iv257.i.us.unr = phi i32 [ %213, %for_loop_body20.i.us.preheader ], [ %indvars.iv.next258.i.us.1, %after_for22.i.loopexit.unr-lcssa.loopexit ]
  %lcmp.mod124.not = icmp eq i64 %xtraiter119, 0
  br i1 %lcmp.mod124.not, label %after_for22.i, label %for_loop_body20.i.us.epil

for_loop_body20.i.us.epil:                        ; preds = %after_for22.i.loopexit.unr-lcssa
  %smin116.epil = call i32 @llvm.smin.i32(i32 %193, i32 %indvars.iv257.i.us.unr)
  %452 = trunc i64 %indvars.iv260.i.us.unr to i32
  %453 = mul i32 %452, %272
  %454 = add i32 %453, %213
  %smin110.epil = call i32 @llvm.smin.i32(i32 %193, i32 %454)
  %455 = add i32 %smin110.epil, -32
  %456 = lshr i32 %455, 5
  %457 = add nuw nsw i32 %456, 1
  %458 = mul i32 %193, %452
  %459 = add i32 %458, %166
  %460 = add i32 %.0199231.i, %452
  %461 = sub i32 %211, %459
  %462 = tail call i32 @llvm.smin.i32(i32 %461, i32 %193)
  %463 = icmp sgt i32 %462, 0
  br i1 %463, label %for_loop_body24.i.us.us.preheader.epil, label %after_for26.i.us.epil

for_loop_body24.i.us.us.preheader.epil:           ; preds = %for_loop_body20.i.us.epil
  %min.iters.check63.epil = icmp ult i32 %smin110.epil, 32
  %464 = add i32 %smin110.epil, -129
  %465 = icmp ult i32 %464, -128
  %or.cond.epil = select i1 %min.iters.check63.epil, i1 true, i1 %465
  br i1 %or.cond.epil, label %for_loop_body24.i.us.us.preheader82.epil, label %vector.ph64.epil

vector.ph64.epil:                                 ; preds = %for_loop_body24.i.us.us.preheader.epil
  %n.vec66.epil = and i32 %smin110.epil, -32
  %broadcast.splatinsert71.epil = insertelement <8 x float> poison, float %210, i64 0
  %broadcast.splat72.epil = shufflevector <8 x float> %broadcast.splatinsert71.epil, <8 x float> poison, <8 x i32> zeroinitializer
  %xtraiter111.epil = and i32 %457, 7
  %466 = icmp ult i32 %455, 224
  br i1 %466, label %middle.block61.unr-lcssa.epil, label %vector.ph64.new.epil

vector.ph64.new.epil:                             ; preds = %vector.ph64.epil
  %467 = sub i32 %212, %458
  %468 = sub i32 %467, %166
  %smin527 = call i32 @llvm.smin.i32(i32 %193, i32 %468)
  %469 = add i32 %smin527, -32
  %470 = lshr i32 %469, 5
  %471 = add nuw nsw i32 %470, 1
  %472 = lshr i32 %471, 3
  %473 = shl nuw nsw i32 %472, 3
  %474 = add nsw i32 %473, -8
  %475 = lshr i32 %474, 3
  %476 = shl i32 %475, 8
  br label %vector.body69.epil120

vector.body69.epil120:                            ; preds = %vector.body69.epil120, %vector.ph64.new.epil
  br i1 true, label %middle.block61.unr-lcssa.loopexit.epil, label %vector.body69.epil120, !llvm.loop !6

middle.block61.unr-lcssa.loopexit.epil:           ; preds = %vector.body69.epil120
  %477 = add i32 %476, 256
  store <8 x float> %broadcast.splat72.epil, <8 x float>* %66, align 4
  store <8 x float> %broadcast.splat72.epil, <8 x float>* %68, align 4
  store <8 x float> %broadcast.splat72.epil, <8 x float>* %70, align 4
  store <8 x float> %broadcast.splat72.epil, <8 x float>* %72, align 4
  store <8 x float> %broadcast.splat72.epil, <8 x float>* %74, align 4
  store <8 x float> %broadcast.splat72.epil, <8 x float>* %76, align 4
  store <8 x float> %broadcast.splat72.epil, <8 x float>* %78, align 4
  store <8 x float> %broadcast.splat72.epil, <8 x float>* %80, align 4
  store <8 x float> %broadcast.splat72.epil, <8 x float>* %82, align 4
  store <8 x float> %broadcast.splat72.epil, <8 x float>* %84, align 4
  store <8 x float> %broadcast.splat72.epil, <8 x float>* %86, align 4
  store <8 x float> %broadcast.splat72.epil, <8 x float>* %88, align 4
  store <8 x float> %broadcast.splat72.epil, <8 x float>* %90, align 4
  store <8 x float> %broadcast.splat72.epil, <8 x float>* %92, align 4
  store <8 x float> %broadcast.splat72.epil, <8 x float>* %94, align 4
  store <8 x float> %broadcast.splat72.epil, <8 x float>* %96, align 4
  br label %middle.block61.unr-lcssa.epil

middle.block61.unr-lcssa.epil:                    ; preds = %middle.block61.unr-lcssa.loopexit.epil, %vector.ph64.epil
  %index70.unr.epil = phi i32 [ 0, %vector.ph64.epil ], [ %477, %middle.block61.unr-lcssa.loopexit.epil ]
  %lcmp.mod113.epil.not = icmp eq i32 %xtraiter111.epil, 0
  br i1 %lcmp.mod113.epil.not, label %middle.block61.epil, label %vector.body69.epil.epil.preheader

vector.body69.epil.epil.preheader:                ; preds = %middle.block61.unr-lcssa.epil
  %478 = sub i32 %212, %458
  %479 = sub i32 %478, %166
  %smin387 = call i32 @llvm.smin.i32(i32 %193, i32 %479)
  %480 = add i32 %smin387, -32
  %481 = lshr i32 %480, 5
  %482 = trunc i32 %481 to i3
  %483 = add i3 %482, 1
  %484 = zext i3 %483 to i32
  br label %vector.body69.epil.epil

vector.body69.epil.epil:                          ; preds = %vector.body69.epil.epil.preheader, %vector.body69.epil.epil
  %lsr.iv388 = phi i32 [ %484, %vector.body69.epil.epil.preheader ], [ %lsr.iv.next389, %vector.body69.epil.epil ]
  %index70.epil.epil = phi i32 [ %index.next79.epil.epil, %vector.body69.epil.epil ], [ %index70.unr.epil, %vector.body69.epil.epil.preheader ]
  %485 = and i32 %index70.epil.epil, 96
  %486 = zext i32 %485 to i64
  %487 = getelementptr [128 x float], [128 x float]* %0, i64 0, i64 %486
  %488 = bitcast float* %487 to <8 x float>*
  store <8 x float> %broadcast.splat72.epil, <8 x float>* %488, align 4
  %489 = getelementptr float, float* %487, i64 8
  %490 = bitcast float* %489 to <8 x float>*
  store <8 x float> %broadcast.splat72.epil, <8 x float>* %490, align 4
  %491 = getelementptr float, float* %487, i64 16
  %492 = bitcast float* %491 to <8 x float>*
  store <8 x float> %broadcast.splat72.epil, <8 x float>* %492, align 4
  %493 = getelementptr float, float* %487, i64 24
  %494 = bitcast float* %493 to <8 x float>*
  store <8 x float> %broadcast.splat72.epil, <8 x float>* %494, align 4
  %index.next79.epil.epil = add nuw nsw i32 %index70.epil.epil, 32
  %lsr.iv.next389 = add nsw i32 %lsr.iv388, -1
  %epil.iter112.cmp.epil.not = icmp eq i32 %lsr.iv.next389, 0
  br i1 %epil.iter112.cmp.epil.not, label %middle.block61.epil.loopexit, label %vector.body69.epil.epil, !llvm.loop !8

middle.block61.epil.loopexit:                     ; preds = %vector.body69.epil.epil
  br label %middle.block61.epil

middle.block61.epil:                              ; preds = %middle.block61.epil.loopexit, %middle.block61.unr-lcssa.epil
  %cmp.n68.epil = icmp eq i32 %smin110.epil, %n.vec66.epil
  br i1 %cmp.n68.epil, label %after_for26.i.us.epil, label %for_loop_body24.i.us.us.preheader82.epil

for_loop_body24.i.us.us.preheader82.epil:         ; preds = %middle.block61.epil, %for_loop_body24.i.us.us.preheader.epil
  %.0194219.i.us.us.ph.epil = phi i32 [ 0, %for_loop_body24.i.us.us.preheader.epil ], [ %n.vec66.epil, %middle.block61.epil ]
  %495 = xor i32 %.0194219.i.us.us.ph.epil, -1
  %496 = add i32 %smin116.epil, %495
  %xtraiter117.epil = and i32 %smin116.epil, 7
  %lcmp.mod118.epil.not = icmp eq i32 %xtraiter117.epil, 0
  br i1 %lcmp.mod118.epil.not, label %for_loop_body24.i.us.us.prol.loopexit.epil, label %for_loop_body24.i.us.us.prol.epil.preheader

for_loop_body24.i.us.us.prol.epil.preheader:      ; preds = %for_loop_body24.i.us.us.preheader82.epil
  %497 = trunc i32 %.0194219.i.us.us.ph.epil to i7
  %498 = zext i7 %497 to i64
  %scevgep393 = getelementptr [128 x float], [128 x float]* %0, i64 0, i64 %498
  %wide.trip.count = zext i32 %xtraiter117.epil to i64
  br label %for_loop_body24.i.us.us.prol.epil

for_loop_body24.i.us.us.prol.epil:                ; preds = %for_loop_body24.i.us.us.prol.epil.preheader, %for_loop_body24.i.us.us.prol.epil
  %lsr.iv390 = phi i64 [ 0, %for_loop_body24.i.us.us.prol.epil.preheader ], [ %lsr.iv.next391, %for_loop_body24.i.us.us.prol.epil ]
  %scevgep394 = getelementptr float, float* %scevgep393, i64 %lsr.iv390
  store float %210, float* %scevgep394, align 4
  %lsr.iv.next391 = add nuw nsw i64 %lsr.iv390, 1
  %exitcond = icmp eq i64 %lsr.iv.next391, %wide.trip.count
  br i1 %exitcond, label %for_loop_body24.i.us.us.prol.loopexit.epil.loopexit, label %for_loop_body24.i.us.us.prol.epil, !llvm.loop !10

for_loop_body24.i.us.us.prol.loopexit.epil.loopexit: ; preds = %for_loop_body24.i.us.us.prol.epil
  %499 = zext i32 %.0194219.i.us.us.ph.epil to i64
  %500 = add i64 %499, %lsr.iv.next391
  %tmp392 = trunc i64 %500 to i32
  br label %for_loop_body24.i.us.us.prol.loopexit.epil

for_loop_body24.i.us.us.prol.loopexit.epil:       ; preds = %for_loop_body24.i.us.us.prol.loopexit.epil.loopexit, %for_loop_body24.i.us.us.preheader82.epil
  %.0194219.i.us.us.unr.epil = phi i32 [ %.0194219.i.us.us.ph.epil, %for_loop_body24.i.us.us.preheader82.epil ], [ %tmp392, %for_loop_body24.i.us.us.prol.loopexit.epil.loopexit ]
  %501 = icmp ult i32 %496, 7
  br i1 %501, label %after_for26.i.us.epil, label %for_loop_body24.i.us.us.epil.preheader

for_loop_body24.i.us.us.epil.preheader:           ; preds = %for_loop_body24.i.us.us.prol.loopexit.epil
  %502 = mul i32 %smin116.epil, -1
  %503 = add nuw i32 %.0194219.i.us.us.unr.epil, 7
  br label %for_loop_body24.i.us.us.epil

for_loop_body24.i.us.us.epil:                     ; preds = %for_loop_body24.i.us.us.epil.preheader, %for_loop_body24.i.us.us.epil
  %lsr.iv397 = phi i32 [ %503, %for_loop_body24.i.us.us.epil.preheader ], [ %lsr.iv.next398, %for_loop_body24.i.us.us.epil ]
  %504 = add i32 %lsr.iv397, -7
  %505 = and i32 %504, 127
  %506 = zext i32 %505 to i64
  %507 = getelementptr [128 x float], [128 x float]* %0, i64 0, i64 %506
  store float %210, float* %507, align 4
  %508 = add i32 %lsr.iv397, -6
  %509 = and i32 %508, 127
  %510 = zext i32 %509 to i64
  %511 = getelementptr [128 x float], [128 x float]* %0, i64 0, i64 %510
  store float %210, float* %511, align 4
  %512 = add i32 %lsr.iv397, -5
  %513 = and i32 %512, 127
  %514 = zext i32 %513 to i64
  %515 = getelementptr [128 x float], [128 x float]* %0, i64 0, i64 %514
  store float %210, float* %515, align 4
  %516 = add i32 %lsr.iv397, -4
  %517 = and i32 %516, 127
  %518 = zext i32 %517 to i64
  %519 = getelementptr [128 x float], [128 x float]* %0, i64 0, i64 %518
  store float %210, float* %519, align 4
  %520 = add i32 %lsr.iv397, -3
  %521 = and i32 %520, 127
  %522 = zext i32 %521 to i64
  %523 = getelementptr [128 x float], [128 x float]* %0, i64 0, i64 %522
  store float %210, float* %523, align 4
  %524 = add i32 %lsr.iv397, -2
  %525 = and i32 %524, 127
  %526 = zext i32 %525 to i64
  %527 = getelementptr [128 x float], [128 x float]* %0, i64 0, i64 %526
  store float %210, float* %527, align 4
  %528 = add i32 %lsr.iv397, -1
  %529 = and i32 %528, 127
  %530 = zext i32 %529 to i64
  %531 = getelementptr [128 x float], [128 x float]* %0, i64 0, i64 %530
  store float %210, float* %531, align 4
  %532 = and i32 %lsr.iv397, 127
  %533 = zext i32 %532 to i64
  %534 = getelementptr [128 x float], [128 x float]* %0, i64 0, i64 %533
  store float %210, float* %534, align 4
  %lsr.iv.next398 = add i32 %lsr.iv397, 8
  %535 = add i32 %502, %lsr.iv.next398
  %exitcond.not.i.us.us.7.epil = icmp eq i32 %535, 7
  br i1 %exitcond.not.i.us.us.7.epil, label %after_for26.i.us.epil.loopexit, label %for_loop_body24.i.us.us.epil, !llvm.loop !11

after_for26.i.us.epil.loopexit:                   ; preds = %for_loop_body24.i.us.us.epil
  br label %after_for26.i.us.epil

after_for26.i.us.epil:                            ; preds = %after_for26.i.us.epil.loopexit, %for_loop_body24.i.us.us.prol.loopexit.epil, %middle.block61.epil, %for_loop_body20.i.us.epil
  %536 = sext i32 %460 to i64
  %537 = getelementptr [32 x i32], [32 x i32]* %2, i64 0, i64 %536
  store i32 %459, i32* %537, align 4
  %538 = getelementptr [32 x float], [32 x float]* %1, i64 0, i64 %536
  store float %210, float* %538, align 4
  br label %after_for22.i

after_for22.i.loopexit83.unr-lcssa.loopexit:      ; preds = %after_for26.i.1
  br label %after_for22.i.loopexit83.unr-lcssa

after_for22.i.loopexit83.unr-lcssa:               ; preds = %after_for22.i.loopexit83.unr-lcssa.loopexit, %for_loop_body20.i.preheader
  %indvars.iv260.i.unr = phi i64 [ 0, %for_loop_body20.i.preheader ], [ %indvars.iv.next261.i.1, %after_for22.i.loopexit83.unr-lcssa.loopexit ]
  %indvars.iv257.i.unr = phi i32 [ %213, %for_loop_body20.i.preheader ], [ %indvars.iv.next258.i.1, %after_for22.i.loopexit83.unr-lcssa.loopexit ]
  %.0197221.i.unr = phi float [ %210, %for_loop_body20.i.preheader ], [ %.0195.lcssa.i.1, %after_for22.i.loopexit83.unr-lcssa.loopexit ]
  %lcmp.mod100.not = icmp eq i64 %xtraiter89, 0
  br i1 %lcmp.mod100.not, label %after_for22.i, label %for_loop_body20.i.epil

for_loop_body20.i.epil:                           ; preds = %after_for22.i.loopexit83.unr-lcssa
  %smin87.epil = call i32 @llvm.smin.i32(i32 %193, i32 %indvars.iv257.i.unr)
  %539 = trunc i64 %indvars.iv260.i.unr to i32
  %540 = mul i32 %193, %539
  %541 = add i32 %540, %166
  %542 = add i32 %.0199231.i, %539
  %543 = sub i32 %211, %541
  %544 = tail call i32 @llvm.smin.i32(i32 %543, i32 %193)
  %545 = icmp sgt i32 %544, 0
  br i1 %545, label %for_loop_body24.i.preheader.epil, label %after_for26.i.epil

for_loop_body24.i.preheader.epil:                 ; preds = %for_loop_body20.i.epil
  %546 = add i32 %smin87.epil, -1
  %xtraiter.epil = and i32 %smin87.epil, 7
  %547 = icmp ult i32 %546, 7
  br i1 %547, label %after_for26.i.loopexit.unr-lcssa.epil, label %for_loop_body24.i.preheader.new.epil

for_loop_body24.i.preheader.new.epil:             ; preds = %for_loop_body24.i.preheader.epil
  %unroll_iter.epil = and i32 %smin87.epil, -8
  %548 = mul i32 %.fr15, %541
  %549 = zext i32 %548 to i64
  %550 = add i32 %166, 1
  %551 = add i32 %550, %540
  %552 = mul i32 %.fr15, %551
  %553 = zext i32 %552 to i64
  %554 = add i32 %166, 2
  %555 = add i32 %554, %540
  %556 = mul i32 %.fr15, %555
  %557 = zext i32 %556 to i64
  %558 = add i32 %166, 3
  %559 = add i32 %558, %540
  %560 = mul i32 %.fr15, %559
  %561 = zext i32 %560 to i64
  %562 = add i32 %166, 4
  %563 = add i32 %562, %540
  %564 = mul i32 %.fr15, %563
  %565 = zext i32 %564 to i64
  %566 = add i32 %166, 5
  %567 = add i32 %566, %540
  %568 = mul i32 %.fr15, %567
  %569 = zext i32 %568 to i64
  %570 = add i32 %166, 6
  %571 = add i32 %570, %540
  %572 = mul i32 %.fr15, %571
  %573 = zext i32 %572 to i64
  %574 = add i32 %166, 7
  %575 = add i32 %574, %540
  %576 = mul i32 %.fr15, %575
  %577 = zext i32 %576 to i64
  br label %for_loop_body24.i.epil90

for_loop_body24.i.epil90:                         ; preds = %true_block30.i.7.epil, %for_loop_body24.i.preheader.new.epil
  %lsr.iv334 = phi i64 [ %lsr.iv.next335, %true_block30.i.7.epil ], [ %577, %for_loop_body24.i.preheader.new.epil ]
  %lsr.iv329 = phi i64 [ %lsr.iv.next330, %true_block30.i.7.epil ], [ %573, %for_loop_body24.i.preheader.new.epil ]
  %lsr.iv324 = phi i64 [ %lsr.iv.next325, %true_block30.i.7.epil ], [ %569, %for_loop_body24.i.preheader.new.epil ]
  %lsr.iv319 = phi i64 [ %lsr.iv.next320, %true_block30.i.7.epil ], [ %565, %for_loop_body24.i.preheader.new.epil ]
  %lsr.iv314 = phi i64 [ %lsr.iv.next315, %true_block30.i.7.epil ], [ %561, %for_loop_body24.i.preheader.new.epil ]
  %lsr.iv309 = phi i64 [ %lsr.iv.next310, %true_block30.i.7.epil ], [ %557, %for_loop_body24.i.preheader.new.epil ]
  %lsr.iv304 = phi i64 [ %lsr.iv.next305, %true_block30.i.7.epil ], [ %553, %for_loop_body24.i.preheader.new.epil ]
  %lsr.iv299 = phi i64 [ %lsr.iv.next300, %true_block30.i.7.epil ], [ %549, %for_loop_body24.i.preheader.new.epil ]
  %.0194219.i.epil91 = phi i32 [ 0, %for_loop_body24.i.preheader.new.epil ], [ %697, %true_block30.i.7.epil ]
  %.0195218.i.epil92 = phi float [ %.0197221.i.unr, %for_loop_body24.i.preheader.new.epil ], [ %689, %true_block30.i.7.epil ]
  br label %after_if32.i.epil93

after_if32.i.epil93:                              ; preds = %after_if32.i.epil93, %for_loop_body24.i.epil90
  %lsr.iv297 = phi i64 [ %lsr.iv.next298, %after_if32.i.epil93 ], [ 1, %for_loop_body24.i.epil90 ]
  %.0192216.i.epil95 = phi float [ %.0195218.i.epil92, %for_loop_body24.i.epil90 ], [ %585, %after_if32.i.epil93 ]
  %578 = add nuw nsw i64 %lsr.iv299, %lsr.iv297
  %579 = trunc i64 %578 to i32
  %580 = sext i32 %579 to i64
  %581 = getelementptr float, float* %10, i64 %580
  %582 = getelementptr float, float* %581, i64 -1
  %583 = load float, float* %582, align 4
  %584 = fmul reassoc ninf nsz float %583, %583
  %585 = fadd reassoc ninf nsz float %584, %.0192216.i.epil95
  %586 = fcmp reassoc ninf nsz ogt float %585, 4.000000e+00
  %587 = icmp uge i64 %lsr.iv297, %61
  %588 = or i1 %587, %586
  %lsr.iv.next298 = add nuw nsw i64 %lsr.iv297, 1
  br i1 %588, label %true_block30.i.epil97, label %after_if32.i.epil93

true_block30.i.epil97:                            ; preds = %after_if32.i.epil93
  %589 = and i32 %.0194219.i.epil91, 120
  %590 = zext i32 %589 to i64
  %591 = getelementptr [128 x float], [128 x float]* %0, i64 0, i64 %590
  store float %.0195218.i.epil92, float* %591, align 4
  br label %after_if32.i.1.epil

after_if32.i.1.epil:                              ; preds = %after_if32.i.1.epil, %true_block30.i.epil97
  %lsr.iv302 = phi i64 [ %lsr.iv.next303, %after_if32.i.1.epil ], [ 1, %true_block30.i.epil97 ]
  %.0192216.i.1.epil = phi float [ %585, %true_block30.i.epil97 ], [ %599, %after_if32.i.1.epil ]
  %592 = add nuw nsw i64 %lsr.iv304, %lsr.iv302
  %593 = trunc i64 %592 to i32
  %594 = sext i32 %593 to i64
  %595 = getelementptr float, float* %10, i64 %594
  %596 = getelementptr float, float* %595, i64 -1
  %597 = load float, float* %596, align 4
  %598 = fmul reassoc ninf nsz float %597, %597
  %599 = fadd reassoc ninf nsz float %598, %.0192216.i.1.epil
  %600 = fcmp reassoc ninf nsz ogt float %599, 4.000000e+00
  %601 = icmp uge i64 %lsr.iv302, %61
  %602 = or i1 %601, %600
  %lsr.iv.next303 = add nuw nsw i64 %lsr.iv302, 1
  br i1 %602, label %true_block30.i.1.epil, label %after_if32.i.1.epil

true_block30.i.1.epil:                            ; preds = %after_if32.i.1.epil
  %603 = or i32 %.0194219.i.epil91, 1
  %604 = and i32 %603, 121
  %605 = zext i32 %604 to i64
  %606 = getelementptr [128 x float], [128 x float]* %0, i64 0, i64 %605
  store float %585, float* %606, align 4
  br label %after_if32.i.2.epil

after_if32.i.2.epil:                              ; preds = %after_if32.i.2.epil, %true_block30.i.1.epil
  %lsr.iv307 = phi i64 [ %lsr.iv.next308, %after_if32.i.2.epil ], [ 1, %true_block30.i.1.epil ]
  %.0192216.i.2.epil = phi float [ %599, %true_block30.i.1.epil ], [ %614, %after_if32.i.2.epil ]
  %607 = add nuw nsw i64 %lsr.iv309, %lsr.iv307
  %608 = trunc i64 %607 to i32
  %609 = sext i32 %608 to i64
  %610 = getelementptr float, float* %10, i64 %609
  %611 = getelementptr float, float* %610, i64 -1
  %612 = load float, float* %611, align 4
  %613 = fmul reassoc ninf nsz float %612, %612
  %614 = fadd reassoc ninf nsz float %613, %.0192216.i.2.epil
  %615 = fcmp reassoc ninf nsz ogt float %614, 4.000000e+00
  %616 = icmp uge i64 %lsr.iv307, %61
  %617 = or i1 %616, %615
  %lsr.iv.next308 = add nuw nsw i64 %lsr.iv307, 1
  br i1 %617, label %true_block30.i.2.epil, label %after_if32.i.2.epil

true_block30.i.2.epil:                            ; preds = %after_if32.i.2.epil
  %618 = or i32 %.0194219.i.epil91, 2
  %619 = and i32 %618, 122
  %620 = zext i32 %619 to i64
  %621 = getelementptr [128 x float], [128 x float]* %0, i64 0, i64 %620
  store float %599, float* %621, align 4
  br label %after_if32.i.3.epil

after_if32.i.3.epil:                              ; preds = %after_if32.i.3.epil, %true_block30.i.2.epil
  %lsr.iv312 = phi i64 [ %lsr.iv.next313, %after_if32.i.3.epil ], [ 1, %true_block30.i.2.epil ]
  %.0192216.i.3.epil = phi float [ %614, %true_block30.i.2.epil ], [ %629, %after_if32.i.3.epil ]
  %622 = add nuw nsw i64 %lsr.iv314, %lsr.iv312
  %623 = trunc i64 %622 to i32
  %624 = sext i32 %623 to i64
  %625 = getelementptr float, float* %10, i64 %624
  %626 = getelementptr float, float* %625, i64 -1
  %627 = load float, float* %626, align 4
  %628 = fmul reassoc ninf nsz float %627, %627
  %629 = fadd reassoc ninf nsz float %628, %.0192216.i.3.epil
  %630 = fcmp reassoc ninf nsz ogt float %629, 4.000000e+00
  %631 = icmp uge i64 %lsr.iv312, %61
  %632 = or i1 %631, %630
  %lsr.iv.next313 = add nuw nsw i64 %lsr.iv312, 1
  br i1 %632, label %true_block30.i.3.epil, label %after_if32.i.3.epil

true_block30.i.3.epil:                            ; preds = %after_if32.i.3.epil
  %633 = or i32 %.0194219.i.epil91, 3
  %634 = and i32 %633, 123
  %635 = zext i32 %634 to i64
  %636 = getelementptr [128 x float], [128 x float]* %0, i64 0, i64 %635
  store float %614, float* %636, align 4
  br label %after_if32.i.4.epil

after_if32.i.4.epil:                              ; preds = %after_if32.i.4.epil, %true_block30.i.3.epil
  %lsr.iv317 = phi i64 [ %lsr.iv.next318, %after_if32.i.4.epil ], [ 1, %true_block30.i.3.epil ]
  %.0192216.i.4.epil = phi float [ %629, %true_block30.i.3.epil ], [ %644, %after_if32.i.4.epil ]
  %637 = add nuw nsw i64 %lsr.iv319, %lsr.iv317
  %638 = trunc i64 %637 to i32
  %639 = sext i32 %638 to i64
  %640 = getelementptr float, float* %10, i64 %639
  %641 = getelementptr float, float* %640, i64 -1
  %642 = load float, float* %641, align 4
  %643 = fmul reassoc ninf nsz float %642, %642
  %644 = fadd reassoc ninf nsz float %643, %.0192216.i.4.epil
  %645 = fcmp reassoc ninf nsz ogt float %644, 4.000000e+00
  %646 = icmp uge i64 %lsr.iv317, %61
  %647 = or i1 %646, %645
  %lsr.iv.next318 = add nuw nsw i64 %lsr.iv317, 1
  br i1 %647, label %true_block30.i.4.epil, label %after_if32.i.4.epil

true_block30.i.4.epil:                            ; preds = %after_if32.i.4.epil
  %648 = or i32 %.0194219.i.epil91, 4
  %649 = and i32 %648, 124
  %650 = zext i32 %649 to i64
  %651 = getelementptr [128 x float], [128 x float]* %0, i64 0, i64 %650
  store float %629, float* %651, align 4
  br label %after_if32.i.5.epil

after_if32.i.5.epil:                              ; preds = %after_if32.i.5.epil, %true_block30.i.4.epil
  %lsr.iv322 = phi i64 [ %lsr.iv.next323, %after_if32.i.5.epil ], [ 1, %true_block30.i.4.epil ]
  %.0192216.i.5.epil = phi float [ %644, %true_block30.i.4.epil ], [ %659, %after_if32.i.5.epil ]
  %652 = add nuw nsw i64 %lsr.iv324, %lsr.iv322
  %653 = trunc i64 %652 to i32
  %654 = sext i32 %653 to i64
  %655 = getelementptr float, float* %10, i64 %654
  %656 = getelementptr float, float* %655, i64 -1
  %657 = load float, float* %656, align 4
  %658 = fmul reassoc ninf nsz float %657, %657
  %659 = fadd reassoc ninf nsz float %658, %.0192216.i.5.epil
  %660 = fcmp reassoc ninf nsz ogt float %659, 4.000000e+00
  %661 = icmp uge i64 %lsr.iv322, %61
  %662 = or i1 %661, %660
  %lsr.iv.next323 = add nuw nsw i64 %lsr.iv322, 1
  br i1 %662, label %true_block30.i.5.epil, label %after_if32.i.5.epil

true_block30.i.5.epil:                            ; preds = %after_if32.i.5.epil
  %663 = or i32 %.0194219.i.epil91, 5
  %664 = and i32 %663, 125
  %665 = zext i32 %664 to i64
  %666 = getelementptr [128 x float], [128 x float]* %0, i64 0, i64 %665
  store float %644, float* %666, align 4
  br label %after_if32.i.6.epil

after_if32.i.6.epil:                              ; preds = %after_if32.i.6.epil, %true_block30.i.5.epil
  %lsr.iv327 = phi i64 [ %lsr.iv.next328, %after_if32.i.6.epil ], [ 1, %true_block30.i.5.epil ]
  %.0192216.i.6.epil = phi float [ %659, %true_block30.i.5.epil ], [ %674, %after_if32.i.6.epil ]
  %667 = add nuw nsw i64 %lsr.iv329, %lsr.iv327
  %668 = trunc i64 %667 to i32
  %669 = sext i32 %668 to i64
  %670 = getelementptr float, float* %10, i64 %669
  %671 = getelementptr float, float* %670, i64 -1
  %672 = load float, float* %671, align 4
  %673 = fmul reassoc ninf nsz float %672, %672
  %674 = fadd reassoc ninf nsz float %673, %.0192216.i.6.epil
  %675 = fcmp reassoc ninf nsz ogt float %674, 4.000000e+00
  %676 = icmp uge i64 %lsr.iv327, %61
  %677 = or i1 %676, %675
  %lsr.iv.next328 = add nuw nsw i64 %lsr.iv327, 1
  br i1 %677, label %true_block30.i.6.epil, label %after_if32.i.6.epil

true_block30.i.6.epil:                            ; preds = %after_if32.i.6.epil
  %678 = or i32 %.0194219.i.epil91, 6
  %679 = and i32 %678, 126
  %680 = zext i32 %679 to i64
  %681 = getelementptr [128 x float], [128 x float]* %0, i64 0, i64 %680
  store float %659, float* %681, align 4
  br label %after_if32.i.7.epil

after_if32.i.7.epil:                              ; preds = %after_if32.i.7.epil, %true_block30.i.6.epil
  %lsr.iv332 = phi i64 [ %lsr.iv.next333, %after_if32.i.7.epil ], [ 1, %true_block30.i.6.epil ]
  %.0192216.i.7.epil = phi float [ %674, %true_block30.i.6.epil ], [ %689, %after_if32.i.7.epil ]
  %682 = add nuw nsw i64 %lsr.iv334, %lsr.iv332
  %683 = trunc i64 %682 to i32
  %684 = sext i32 %683 to i64
  %685 = getelementptr float, float* %10, i64 %684
  %686 = getelementptr float, float* %685, i64 -1
  %687 = load float, float* %686, align 4
  %688 = fmul reassoc ninf nsz float %687, %687
  %689 = fadd reassoc ninf nsz float %688, %.0192216.i.7.epil
  %690 = fcmp reassoc ninf nsz ogt float %689, 4.000000e+00
  %691 = icmp uge i64 %lsr.iv332, %61
  %692 = or i1 %691, %690
  %lsr.iv.next333 = add nuw nsw i64 %lsr.iv332, 1
  br i1 %692, label %true_block30.i.7.epil, label %after_if32.i.7.epil

true_block30.i.7.epil:                            ; preds = %after_if32.i.7.epil
  %693 = or i32 %.0194219.i.epil91, 7
  %694 = and i32 %693, 127
  %695 = zext i32 %694 to i64
  %696 = getelementptr [128 x float], [128 x float]* %0, i64 0, i64 %695
  store float %674, float* %696, align 4
  %697 = add nuw nsw i32 %.0194219.i.epil91, 8
  %lsr.iv.next300 = add nuw i64 %lsr.iv299, %99
  %lsr.iv.next305 = add nuw i64 %lsr.iv304, %99
  %lsr.iv.next310 = add nuw i64 %lsr.iv309, %99
  %lsr.iv.next315 = add nuw i64 %lsr.iv314, %99
  %lsr.iv.next320 = add nuw i64 %lsr.iv319, %99
  %lsr.iv.next325 = add nuw i64 %lsr.iv324, %99
  %lsr.iv.next330 = add nuw i64 %lsr.iv329, %99
  %lsr.iv.next335 = add nuw i64 %lsr.iv334, %99
  %niter.ncmp.7.epil = icmp eq i32 %697, %unroll_iter.epil
  br i1 %niter.ncmp.7.epil, label %after_for26.i.loopexit.unr-lcssa.epil.loopexit, label %for_loop_body24.i.epil90

after_for26.i.loopexit.unr-lcssa.epil.loopexit:   ; preds = %true_block30.i.7.epil
  br label %after_for26.i.loopexit.unr-lcssa.epil

after_for26.i.loopexit.unr-lcssa.epil:            ; preds = %after_for26.i.loopexit.unr-lcssa.epil.loopexit, %for_loop_body24.i.preheader.epil
  %.0194219.i.unr.epil = phi i32 [ 0, %for_loop_body24.i.preheader.epil ], [ %697, %after_for26.i.loopexit.unr-lcssa.epil.loopexit ]
  %.0195218.i.unr.epil = phi float [ %.0197221.i.unr, %for_loop_body24.i.preheader.epil ], [ %689, %after_for26.i.loopexit.unr-lcssa.epil.loopexit ]
  %lcmp.mod.epil.not = icmp eq i32 %xtraiter.epil, 0
  br i1 %lcmp.mod.epil.not, label %after_for26.i.epil, label %for_loop_body24.i.epil.epil.preheader

for_loop_body24.i.epil.epil.preheader:            ; preds = %after_for26.i.loopexit.unr-lcssa.epil
  %698 = add i32 %.0194219.i.unr.epil, %166
  %699 = add i32 %698, %540
  %700 = mul i32 %.fr15, %699
  %701 = zext i32 %700 to i64
  br label %for_loop_body24.i.epil.epil

for_loop_body24.i.epil.epil:                      ; preds = %for_loop_body24.i.epil.epil.preheader, %true_block30.i.epil.epil
  %lsr.iv339 = phi i64 [ %701, %for_loop_body24.i.epil.epil.preheader ], [ %lsr.iv.next340, %true_block30.i.epil.epil ]
  %.0194219.i.epil.epil = phi i32 [ %716, %true_block30.i.epil.epil ], [ %.0194219.i.unr.epil, %for_loop_body24.i.epil.epil.preheader ]
  %.0195218.i.epil.epil = phi float [ %709, %true_block30.i.epil.epil ], [ %.0195218.i.unr.epil, %for_loop_body24.i.epil.epil.preheader ]
  %epil.iter.epil = phi i32 [ %epil.iter.next.epil, %true_block30.i.epil.epil ], [ 0, %for_loop_body24.i.epil.epil.preheader ]
  br label %after_if32.i.epil.epil

after_if32.i.epil.epil:                           ; preds = %after_if32.i.epil.epil, %for_loop_body24.i.epil.epil
  %lsr.iv337 = phi i64 [ %lsr.iv.next338, %after_if32.i.epil.epil ], [ 1, %for_loop_body24.i.epil.epil ]
  %.0192216.i.epil.epil = phi float [ %.0195218.i.epil.epil, %for_loop_body24.i.epil.epil ], [ %709, %after_if32.i.epil.epil ]
  %702 = add nuw nsw i64 %lsr.iv339, %lsr.iv337
  %703 = trunc i64 %702 to i32
  %704 = sext i32 %703 to i64
  %705 = getelementptr float, float* %10, i64 %704
  %706 = getelementptr float, float* %705, i64 -1
  %707 = load float, float* %706, align 4
  %708 = fmul reassoc ninf nsz float %707, %707
  %709 = fadd reassoc ninf nsz float %708, %.0192216.i.epil.epil
  %710 = fcmp reassoc ninf nsz ogt float %709, 4.000000e+00
  %711 = icmp uge i64 %lsr.iv337, %61
  %712 = or i1 %711, %710
  %lsr.iv.next338 = add nuw nsw i64 %lsr.iv337, 1
  br i1 %712, label %true_block30.i.epil.epil, label %after_if32.i.epil.epil

true_block30.i.epil.epil:                         ; preds = %after_if32.i.epil.epil
  %713 = and i32 %.0194219.i.epil.epil, 127
  %714 = zext i32 %713 to i64
  %715 = getelementptr [128 x float], [128 x float]* %0, i64 0, i64 %714
  store float %.0195218.i.epil.epil, float* %715, align 4
  %716 = add nuw nsw i32 %.0194219.i.epil.epil, 1
  %epil.iter.next.epil = add nuw nsw i32 %epil.iter.epil, 1
  %lsr.iv.next340 = add nuw i64 %lsr.iv339, %61
  %epil.iter.cmp.epil.not = icmp eq i32 %epil.iter.next.epil, %xtraiter.epil
  br i1 %epil.iter.cmp.epil.not, label %after_for26.i.epil.loopexit, label %for_loop_body24.i.epil.epil, !llvm.loop !12

after_for26.i.epil.loopexit:                      ; preds = %true_block30.i.epil.epil
  br label %after_for26.i.epil

after_for26.i.epil:                               ; preds = %after_for26.i.epil.loopexit, %after_for26.i.loopexit.unr-lcssa.epil, %for_loop_body20.i.epil
  %717 = sext i32 %542 to i64
  %718 = getelementptr [32 x i32], [32 x i32]* %2, i64 0, i64 %717
  store i32 %541, i32* %718, align 4
  %719 = getelementptr [32 x float], [32 x float]* %1, i64 0, i64 %717
  store float %.0197221.i.unr, float* %719, align 4
  br label %after_for22.i

after_for22.i:                                    ; preds = %after_for26.i.epil, %after_for22.i.loopexit83.unr-lcssa, %after_for26.i.us.epil, %after_for22.i.loopexit.unr-lcssa, %for_loop_body16.i
  %720 = add i32 %207, -1
  %721 = tail call i32 @llvm.smax.i32(i32 %720, i32 0)
  %722 = add i32 %721, %.0199231.i
  %723 = icmp slt i32 %162, 1
  %brmerge = or i1 %723, %60
  br i1 %brmerge, label %after_for39.i, label %for_loop_body37.i.preheader

for_loop_body37.i.preheader:                      ; preds = %after_for22.i
  br label %for_loop_body37.i

for_loop_body24.i:                                ; preds = %true_block30.i.7, %for_loop_body24.i.preheader.new
  %lsr.iv224 = phi i64 [ %lsr.iv.next225, %true_block30.i.7 ], [ %lsr.iv222, %for_loop_body24.i.preheader.new ]
  %lsr.iv217 = phi i64 [ %lsr.iv.next218, %true_block30.i.7 ], [ %lsr.iv215, %for_loop_body24.i.preheader.new ]
  %lsr.iv210 = phi i64 [ %lsr.iv.next211, %true_block30.i.7 ], [ %lsr.iv208, %for_loop_body24.i.preheader.new ]
  %lsr.iv203 = phi i64 [ %lsr.iv.next204, %true_block30.i.7 ], [ %lsr.iv201, %for_loop_body24.i.preheader.new ]
  %lsr.iv196 = phi i64 [ %lsr.iv.next197, %true_block30.i.7 ], [ %lsr.iv194, %for_loop_body24.i.preheader.new ]
  %lsr.iv189 = phi i64 [ %lsr.iv.next190, %true_block30.i.7 ], [ %lsr.iv187, %for_loop_body24.i.preheader.new ]
  %lsr.iv182 = phi i64 [ %lsr.iv.next183, %true_block30.i.7 ], [ %lsr.iv180, %for_loop_body24.i.preheader.new ]
  %lsr.iv176 = phi i64 [ %lsr.iv.next177, %true_block30.i.7 ], [ %lsr.iv174, %for_loop_body24.i.preheader.new ]
  %.0194219.i = phi i32 [ 0, %for_loop_body24.i.preheader.new ], [ %988, %true_block30.i.7 ]
  %.0195218.i = phi float [ %.0197221.i, %for_loop_body24.i.preheader.new ], [ %980, %true_block30.i.7 ]
  br label %after_if32.i

after_for26.i.loopexit.unr-lcssa.loopexit:        ; preds = %true_block30.i.7
  br label %after_for26.i.loopexit.unr-lcssa

after_for26.i.loopexit.unr-lcssa:                 ; preds = %after_for26.i.loopexit.unr-lcssa.loopexit, %for_loop_body24.i.preheader
  %.lcssa.lcssa.ph = phi float [ undef, %for_loop_body24.i.preheader ], [ %980, %after_for26.i.loopexit.unr-lcssa.loopexit ]
  %.0194219.i.unr = phi i32 [ 0, %for_loop_body24.i.preheader ], [ %988, %after_for26.i.loopexit.unr-lcssa.loopexit ]
  %.0195218.i.unr = phi float [ %.0197221.i, %for_loop_body24.i.preheader ], [ %980, %after_for26.i.loopexit.unr-lcssa.loopexit ]
  %lcmp.mod.not = icmp eq i32 %xtraiter, 0
  br i1 %lcmp.mod.not, label %after_for26.i, label %for_loop_body24.i.epil.preheader

for_loop_body24.i.epil.preheader:                 ; preds = %after_for26.i.loopexit.unr-lcssa
  %724 = add i32 %.0194219.i.unr, %lsr.iv229
  %725 = mul i32 %.fr15, %724
  %726 = zext i32 %725 to i64
  br label %for_loop_body24.i.epil

for_loop_body24.i.epil:                           ; preds = %for_loop_body24.i.epil.preheader, %true_block30.i.epil
  %lsr.iv231 = phi i64 [ %726, %for_loop_body24.i.epil.preheader ], [ %lsr.iv.next232, %true_block30.i.epil ]
  %.0194219.i.epil = phi i32 [ %741, %true_block30.i.epil ], [ %.0194219.i.unr, %for_loop_body24.i.epil.preheader ]
  %.0195218.i.epil = phi float [ %734, %true_block30.i.epil ], [ %.0195218.i.unr, %for_loop_body24.i.epil.preheader ]
  %epil.iter = phi i32 [ %epil.iter.next, %true_block30.i.epil ], [ 0, %for_loop_body24.i.epil.preheader ]
  br label %after_if32.i.epil

after_if32.i.epil:                                ; preds = %after_if32.i.epil, %for_loop_body24.i.epil
  %lsr.iv227 = phi i64 [ %lsr.iv.next228, %after_if32.i.epil ], [ 1, %for_loop_body24.i.epil ]
  %.0192216.i.epil = phi float [ %.0195218.i.epil, %for_loop_body24.i.epil ], [ %734, %after_if32.i.epil ]
  %727 = add nuw nsw i64 %lsr.iv231, %lsr.iv227
  %728 = trunc i64 %727 to i32
  %729 = sext i32 %728 to i64
  %730 = getelementptr float, float* %10, i64 %729
  %731 = getelementptr float, float* %730, i64 -1
  %732 = load float, float* %731, align 4
  %733 = fmul reassoc ninf nsz float %732, %732
  %734 = fadd reassoc ninf nsz float %733, %.0192216.i.epil
  %735 = fcmp reassoc ninf nsz ogt float %734, 4.000000e+00
  %736 = icmp uge i64 %lsr.iv227, %61
  %737 = or i1 %736, %735
  %lsr.iv.next228 = add nuw nsw i64 %lsr.iv227, 1
  br i1 %737, label %true_block30.i.epil, label %after_if32.i.epil

true_block30.i.epil:                              ; preds = %after_if32.i.epil
  %738 = and i32 %.0194219.i.epil, 127
  %739 = zext i32 %738 to i64
  %740 = getelementptr [128 x float], [128 x float]* %0, i64 0, i64 %739
  store float %.0195218.i.epil, float* %740, align 4
  %741 = add nuw nsw i32 %.0194219.i.epil, 1
  %epil.iter.next = add nuw nsw i32 %epil.iter, 1
  %lsr.iv.next232 = add nuw i64 %lsr.iv231, %61
  %epil.iter.cmp.not = icmp eq i32 %epil.iter.next, %xtraiter
  br i1 %epil.iter.cmp.not, label %after_for26.i.loopexit, label %for_loop_body24.i.epil, !llvm.loop !12

after_for26.i.loopexit:                           ; preds = %true_block30.i.epil
  br label %after_for26.i

after_for26.i:                                    ; preds = %after_for26.i.loopexit, %after_for26.i.loopexit.unr-lcssa, %for_loop_body20.i
  %.0195.lcssa.i = phi float [ %.0197221.i, %for_loop_body20.i ], [ %.lcssa.lcssa.ph, %after_for26.i.loopexit.unr-lcssa ], [ %734, %after_for26.i.loopexit ]
  %742 = sext i32 %446 to i64
  %743 = getelementptr [32 x i32], [32 x i32]* %2, i64 0, i64 %742
  store i32 %445, i32* %743, align 4
  %744 = getelementptr [32 x float], [32 x float]* %1, i64 0, i64 %742
  store float %.0197221.i, float* %744, align 4
  %indvars.iv.next258.i = sub i32 %indvars.iv257.i, %193
  %smin87.1 = call i32 @llvm.smin.i32(i32 %193, i32 %indvars.iv.next258.i)
  %745 = or i32 %443, 1
  %746 = mul i32 %193, %745
  %747 = add i32 %746, %166
  %748 = add i32 %.0199231.i, %745
  %749 = sub i32 %211, %747
  %750 = tail call i32 @llvm.smin.i32(i32 %749, i32 %193)
  %751 = icmp sgt i32 %750, 0
  br i1 %751, label %for_loop_body24.i.preheader.1, label %after_for26.i.1

for_loop_body24.i.preheader.1:                    ; preds = %after_for26.i
  %752 = add i32 %smin87.1, -1
  %xtraiter.1 = and i32 %smin87.1, 7
  %753 = icmp ult i32 %752, 7
  br i1 %753, label %after_for26.i.loopexit.unr-lcssa.1, label %for_loop_body24.i.preheader.new.1

for_loop_body24.i.preheader.new.1:                ; preds = %for_loop_body24.i.preheader.1
  %unroll_iter.1 = and i32 %smin87.1, -8
  br label %for_loop_body24.i.1

for_loop_body24.i.1:                              ; preds = %true_block30.i.7.1, %for_loop_body24.i.preheader.new.1
  %lsr.iv287 = phi i64 [ %lsr.iv.next288, %true_block30.i.7.1 ], [ %lsr.iv285, %for_loop_body24.i.preheader.new.1 ]
  %lsr.iv280 = phi i64 [ %lsr.iv.next281, %true_block30.i.7.1 ], [ %lsr.iv278, %for_loop_body24.i.preheader.new.1 ]
  %lsr.iv273 = phi i64 [ %lsr.iv.next274, %true_block30.i.7.1 ], [ %lsr.iv271, %for_loop_body24.i.preheader.new.1 ]
  %lsr.iv266 = phi i64 [ %lsr.iv.next267, %true_block30.i.7.1 ], [ %lsr.iv264, %for_loop_body24.i.preheader.new.1 ]
  %lsr.iv259 = phi i64 [ %lsr.iv.next260, %true_block30.i.7.1 ], [ %lsr.iv257, %for_loop_body24.i.preheader.new.1 ]
  %lsr.iv252 = phi i64 [ %lsr.iv.next253, %true_block30.i.7.1 ], [ %lsr.iv250, %for_loop_body24.i.preheader.new.1 ]
  %lsr.iv245 = phi i64 [ %lsr.iv.next246, %true_block30.i.7.1 ], [ %lsr.iv243, %for_loop_body24.i.preheader.new.1 ]
  %lsr.iv238 = phi i64 [ %lsr.iv.next239, %true_block30.i.7.1 ], [ %lsr.iv236, %for_loop_body24.i.preheader.new.1 ]
  %.0194219.i.1 = phi i32 [ 0, %for_loop_body24.i.preheader.new.1 ], [ %865, %true_block30.i.7.1 ]
  %.0195218.i.1 = phi float [ %.0195.lcssa.i, %for_loop_body24.i.preheader.new.1 ], [ %857, %true_block30.i.7.1 ]
  br label %after_if32.i.1106

after_if32.i.1106:                                ; preds = %after_if32.i.1106, %for_loop_body24.i.1
  %lsr.iv234 = phi i64 [ %lsr.iv.next235, %after_if32.i.1106 ], [ 1, %for_loop_body24.i.1 ]
  %.0192216.i.1104 = phi float [ %.0195218.i.1, %for_loop_body24.i.1 ], [ %760, %after_if32.i.1106 ]
  %754 = add i64 %lsr.iv238, %lsr.iv234
  %755 = add i64 %754, -1
  %tmp240 = trunc i64 %755 to i32
  %756 = sext i32 %tmp240 to i64
  %757 = getelementptr float, float* %10, i64 %756
  %758 = load float, float* %757, align 4
  %759 = fmul reassoc ninf nsz float %758, %758
  %760 = fadd reassoc ninf nsz float %759, %.0192216.i.1104
  %761 = fcmp reassoc ninf nsz ogt float %760, 4.000000e+00
  %762 = icmp uge i64 %lsr.iv234, %61
  %763 = or i1 %762, %761
  %lsr.iv.next235 = add nuw nsw i64 %lsr.iv234, 1
  br i1 %763, label %true_block30.i.1109, label %after_if32.i.1106

true_block30.i.1109:                              ; preds = %after_if32.i.1106
  %764 = and i32 %.0194219.i.1, 120
  %765 = zext i32 %764 to i64
  %766 = getelementptr [128 x float], [128 x float]* %0, i64 0, i64 %765
  store float %.0195218.i.1, float* %766, align 4
  br label %after_if32.i.1.1

after_if32.i.1.1:                                 ; preds = %after_if32.i.1.1, %true_block30.i.1109
  %lsr.iv241 = phi i64 [ %lsr.iv.next242, %after_if32.i.1.1 ], [ 1, %true_block30.i.1109 ]
  %.0192216.i.1.1 = phi float [ %760, %true_block30.i.1109 ], [ %773, %after_if32.i.1.1 ]
  %767 = add i64 %lsr.iv245, %lsr.iv241
  %768 = add i64 %767, -1
  %tmp247 = trunc i64 %768 to i32
  %769 = sext i32 %tmp247 to i64
  %770 = getelementptr float, float* %10, i64 %769
  %771 = load float, float* %770, align 4
  %772 = fmul reassoc ninf nsz float %771, %771
  %773 = fadd reassoc ninf nsz float %772, %.0192216.i.1.1
  %774 = fcmp reassoc ninf nsz ogt float %773, 4.000000e+00
  %775 = icmp uge i64 %lsr.iv241, %61
  %776 = or i1 %775, %774
  %lsr.iv.next242 = add nuw nsw i64 %lsr.iv241, 1
  br i1 %776, label %true_block30.i.1.1, label %after_if32.i.1.1

true_block30.i.1.1:                               ; preds = %after_if32.i.1.1
  %777 = or i32 %.0194219.i.1, 1
  %778 = and i32 %777, 121
  %779 = zext i32 %778 to i64
  %780 = getelementptr [128 x float], [128 x float]* %0, i64 0, i64 %779
  store float %760, float* %780, align 4
  br label %after_if32.i.2.1

after_if32.i.2.1:                                 ; preds = %after_if32.i.2.1, %true_block30.i.1.1
  %lsr.iv248 = phi i64 [ %lsr.iv.next249, %after_if32.i.2.1 ], [ 1, %true_block30.i.1.1 ]
  %.0192216.i.2.1 = phi float [ %773, %true_block30.i.1.1 ], [ %787, %after_if32.i.2.1 ]
  %781 = add i64 %lsr.iv252, %lsr.iv248
  %782 = add i64 %781, -1
  %tmp254 = trunc i64 %782 to i32
  %783 = sext i32 %tmp254 to i64
  %784 = getelementptr float, float* %10, i64 %783
  %785 = load float, float* %784, align 4
  %786 = fmul reassoc ninf nsz float %785, %785
  %787 = fadd reassoc ninf nsz float %786, %.0192216.i.2.1
  %788 = fcmp reassoc ninf nsz ogt float %787, 4.000000e+00
  %789 = icmp uge i64 %lsr.iv248, %61
  %790 = or i1 %789, %788
  %lsr.iv.next249 = add nuw nsw i64 %lsr.iv248, 1
  br i1 %790, label %true_block30.i.2.1, label %after_if32.i.2.1

true_block30.i.2.1:                               ; preds = %after_if32.i.2.1
  %791 = or i32 %.0194219.i.1, 2
  %792 = and i32 %791, 122
  %793 = zext i32 %792 to i64
  %794 = getelementptr [128 x float], [128 x float]* %0, i64 0, i64 %793
  store float %773, float* %794, align 4
  br label %after_if32.i.3.1

after_if32.i.3.1:                                 ; preds = %after_if32.i.3.1, %true_block30.i.2.1
  %lsr.iv255 = phi i64 [ %lsr.iv.next256, %after_if32.i.3.1 ], [ 1, %true_block30.i.2.1 ]
  %.0192216.i.3.1 = phi float [ %787, %true_block30.i.2.1 ], [ %801, %after_if32.i.3.1 ]
  %795 = add i64 %lsr.iv259, %lsr.iv255
  %796 = add i64 %795, -1
  %tmp261 = trunc i64 %796 to i32
  %797 = sext i32 %tmp261 to i64
  %798 = getelementptr float, float* %10, i64 %797
  %799 = load float, float* %798, align 4
  %800 = fmul reassoc ninf nsz float %799, %799
  %801 = fadd reassoc ninf nsz float %800, %.0192216.i.3.1
  %802 = fcmp reassoc ninf nsz ogt float %801, 4.000000e+00
  %803 = icmp uge i64 %lsr.iv255, %61
  %804 = or i1 %803, %802
  %lsr.iv.next256 = add nuw nsw i64 %lsr.iv255, 1
  br i1 %804, label %true_block30.i.3.1, label %after_if32.i.3.1

true_block30.i.3.1:                               ; preds = %after_if32.i.3.1
  %805 = or i32 %.0194219.i.1, 3
  %806 = and i32 %805, 123
  %807 = zext i32 %806 to i64
  %808 = getelementptr [128 x float], [128 x float]* %0, i64 0, i64 %807
  store float %787, float* %808, align 4
  br label %after_if32.i.4.1

after_if32.i.4.1:                                 ; preds = %after_if32.i.4.1, %true_block30.i.3.1
  %lsr.iv262 = phi i64 [ %lsr.iv.next263, %after_if32.i.4.1 ], [ 1, %true_block30.i.3.1 ]
  %.0192216.i.4.1 = phi float [ %801, %true_block30.i.3.1 ], [ %815, %after_if32.i.4.1 ]
  %809 = add i64 %lsr.iv266, %lsr.iv262
  %810 = add i64 %809, -1
  %tmp268 = trunc i64 %810 to i32
  %811 = sext i32 %tmp268 to i64
  %812 = getelementptr float, float* %10, i64 %811
  %813 = load float, float* %812, align 4
  %814 = fmul reassoc ninf nsz float %813, %813
  %815 = fadd reassoc ninf nsz float %814, %.0192216.i.4.1
  %816 = fcmp reassoc ninf nsz ogt float %815, 4.000000e+00
  %817 = icmp uge i64 %lsr.iv262, %61
  %818 = or i1 %817, %816
  %lsr.iv.next263 = add nuw nsw i64 %lsr.iv262, 1
  br i1 %818, label %true_block30.i.4.1, label %after_if32.i.4.1

true_block30.i.4.1:                               ; preds = %after_if32.i.4.1
  %819 = or i32 %.0194219.i.1, 4
  %820 = and i32 %819, 124
  %821 = zext i32 %820 to i64
  %822 = getelementptr [128 x float], [128 x float]* %0, i64 0, i64 %821
  store float %801, float* %822, align 4
  br label %after_if32.i.5.1

after_if32.i.5.1:                                 ; preds = %after_if32.i.5.1, %true_block30.i.4.1
  %lsr.iv269 = phi i64 [ %lsr.iv.next270, %after_if32.i.5.1 ], [ 1, %true_block30.i.4.1 ]
  %.0192216.i.5.1 = phi float [ %815, %true_block30.i.4.1 ], [ %829, %after_if32.i.5.1 ]
  %823 = add i64 %lsr.iv273, %lsr.iv269
  %824 = add i64 %823, -1
  %tmp275 = trunc i64 %824 to i32
  %825 = sext i32 %tmp275 to i64
  %826 = getelementptr float, float* %10, i64 %825
  %827 = load float, float* %826, align 4
  %828 = fmul reassoc ninf nsz float %827, %827
  %829 = fadd reassoc ninf nsz float %828, %.0192216.i.5.1
  %830 = fcmp reassoc ninf nsz ogt float %829, 4.000000e+00
  %831 = icmp uge i64 %lsr.iv269, %61
  %832 = or i1 %831, %830
  %lsr.iv.next270 = add nuw nsw i64 %lsr.iv269, 1
  br i1 %832, label %true_block30.i.5.1, label %after_if32.i.5.1

true_block30.i.5.1:                               ; preds = %after_if32.i.5.1
  %833 = or i32 %.0194219.i.1, 5
  %834 = and i32 %833, 125
  %835 = zext i32 %834 to i64
  %836 = getelementptr [128 x float], [128 x float]* %0, i64 0, i64 %835
  store float %815, float* %836, align 4
  br label %after_if32.i.6.1

after_if32.i.6.1:                                 ; preds = %after_if32.i.6.1, %true_block30.i.5.1
  %lsr.iv276 = phi i64 [ %lsr.iv.next277, %after_if32.i.6.1 ], [ 1, %true_block30.i.5.1 ]
  %.0192216.i.6.1 = phi float [ %829, %true_block30.i.5.1 ], [ %843, %after_if32.i.6.1 ]
  %837 = add i64 %lsr.iv280, %lsr.iv276
  %838 = add i64 %837, -1
  %tmp282 = trunc i64 %838 to i32
  %839 = sext i32 %tmp282 to i64
  %840 = getelementptr float, float* %10, i64 %839
  %841 = load float, float* %840, align 4
  %842 = fmul reassoc ninf nsz float %841, %841
  %843 = fadd reassoc ninf nsz float %842, %.0192216.i.6.1
  %844 = fcmp reassoc ninf nsz ogt float %843, 4.000000e+00
  %845 = icmp uge i64 %lsr.iv276, %61
  %846 = or i1 %845, %844
  %lsr.iv.next277 = add nuw nsw i64 %lsr.iv276, 1
  br i1 %846, label %true_block30.i.6.1, label %after_if32.i.6.1

true_block30.i.6.1:                               ; preds = %after_if32.i.6.1
  %847 = or i32 %.0194219.i.1, 6
  %848 = and i32 %847, 126
  %849 = zext i32 %848 to i64
  %850 = getelementptr [128 x float], [128 x float]* %0, i64 0, i64 %849
  store float %829, float* %850, align 4
  br label %after_if32.i.7.1

after_if32.i.7.1:                                 ; preds = %after_if32.i.7.1, %true_block30.i.6.1
  %lsr.iv283 = phi i64 [ %lsr.iv.next284, %after_if32.i.7.1 ], [ 1, %true_block30.i.6.1 ]
  %.0192216.i.7.1 = phi float [ %843, %true_block30.i.6.1 ], [ %857, %after_if32.i.7.1 ]
  %851 = add i64 %lsr.iv287, %lsr.iv283
  %852 = add i64 %851, -1
  %tmp289 = trunc i64 %852 to i32
  %853 = sext i32 %tmp289 to i64
  %854 = getelementptr float, float* %10, i64 %853
  %855 = load float, float* %854, align 4
  %856 = fmul reassoc ninf nsz float %855, %855
  %857 = fadd reassoc ninf nsz float %856, %.0192216.i.7.1
  %858 = fcmp reassoc ninf nsz ogt float %857, 4.000000e+00
  %859 = icmp uge i64 %lsr.iv283, %61
  %860 = or i1 %859, %858
  %lsr.iv.next284 = add nuw nsw i64 %lsr.iv283, 1
  br i1 %860, label %true_block30.i.7.1, label %after_if32.i.7.1

true_block30.i.7.1:                               ; preds = %after_if32.i.7.1
  %861 = or i32 %.0194219.i.1, 7
  %862 = and i32 %861, 127
  %863 = zext i32 %862 to i64
  %864 = getelementptr [128 x float], [128 x float]* %0, i64 0, i64 %863
  store float %843, float* %864, align 4
  %865 = add nuw nsw i32 %.0194219.i.1, 8
  %lsr.iv.next239 = add i64 %lsr.iv238, %99
  %lsr.iv.next246 = add i64 %lsr.iv245, %99
  %lsr.iv.next253 = add i64 %lsr.iv252, %99
  %lsr.iv.next260 = add i64 %lsr.iv259, %99
  %lsr.iv.next267 = add i64 %lsr.iv266, %99
  %lsr.iv.next274 = add i64 %lsr.iv273, %99
  %lsr.iv.next281 = add i64 %lsr.iv280, %99
  %lsr.iv.next288 = add i64 %lsr.iv287, %99
  %niter.ncmp.7.1 = icmp eq i32 %865, %unroll_iter.1
  br i1 %niter.ncmp.7.1, label %after_for26.i.loopexit.unr-lcssa.1.loopexit, label %for_loop_body24.i.1

after_for26.i.loopexit.unr-lcssa.1.loopexit:      ; preds = %true_block30.i.7.1
  br label %after_for26.i.loopexit.unr-lcssa.1

after_for26.i.loopexit.unr-lcssa.1:               ; preds = %after_for26.i.loopexit.unr-lcssa.1.loopexit, %for_loop_body24.i.preheader.1
  %.lcssa.lcssa.ph.1 = phi float [ undef, %for_loop_body24.i.preheader.1 ], [ %857, %after_for26.i.loopexit.unr-lcssa.1.loopexit ]
  %.0194219.i.unr.1 = phi i32 [ 0, %for_loop_body24.i.preheader.1 ], [ %865, %after_for26.i.loopexit.unr-lcssa.1.loopexit ]
  %.0195218.i.unr.1 = phi float [ %.0195.lcssa.i, %for_loop_body24.i.preheader.1 ], [ %857, %after_for26.i.loopexit.unr-lcssa.1.loopexit ]
  %lcmp.mod.1.not = icmp eq i32 %xtraiter.1, 0
  br i1 %lcmp.mod.1.not, label %after_for26.i.1, label %for_loop_body24.i.epil.1.preheader

for_loop_body24.i.epil.1.preheader:               ; preds = %after_for26.i.loopexit.unr-lcssa.1
  %866 = add i32 %.0194219.i.unr.1, %lsr.iv292
  %867 = mul i32 %.fr15, %866
  %868 = zext i32 %867 to i64
  br label %for_loop_body24.i.epil.1

for_loop_body24.i.epil.1:                         ; preds = %for_loop_body24.i.epil.1.preheader, %true_block30.i.epil.1
  %lsr.iv294 = phi i64 [ %868, %for_loop_body24.i.epil.1.preheader ], [ %lsr.iv.next295, %true_block30.i.epil.1 ]
  %.0194219.i.epil.1 = phi i32 [ %883, %true_block30.i.epil.1 ], [ %.0194219.i.unr.1, %for_loop_body24.i.epil.1.preheader ]
  %.0195218.i.epil.1 = phi float [ %876, %true_block30.i.epil.1 ], [ %.0195218.i.unr.1, %for_loop_body24.i.epil.1.preheader ]
  %epil.iter.1 = phi i32 [ %epil.iter.next.1, %true_block30.i.epil.1 ], [ 0, %for_loop_body24.i.epil.1.preheader ]
  br label %after_if32.i.epil.1

after_if32.i.epil.1:                              ; preds = %after_if32.i.epil.1, %for_loop_body24.i.epil.1
  %lsr.iv290 = phi i64 [ %lsr.iv.next291, %after_if32.i.epil.1 ], [ 1, %for_loop_body24.i.epil.1 ]
  %.0192216.i.epil.1 = phi float [ %.0195218.i.epil.1, %for_loop_body24.i.epil.1 ], [ %876, %after_if32.i.epil.1 ]
  %869 = add nuw nsw i64 %lsr.iv294, %lsr.iv290
  %870 = trunc i64 %869 to i32
  %871 = sext i32 %870 to i64
  %872 = getelementptr float, float* %10, i64 %871
  %873 = getelementptr float, float* %872, i64 -1
  %874 = load float, float* %873, align 4
  %875 = fmul reassoc ninf nsz float %874, %874
  %876 = fadd reassoc ninf nsz float %875, %.0192216.i.epil.1
  %877 = fcmp reassoc ninf nsz ogt float %876, 4.000000e+00
  %878 = icmp uge i64 %lsr.iv290, %61
  %879 = or i1 %878, %877
  %lsr.iv.next291 = add nuw nsw i64 %lsr.iv290, 1
  br i1 %879, label %true_block30.i.epil.1, label %after_if32.i.epil.1

true_block30.i.epil.1:                            ; preds = %after_if32.i.epil.1
  %880 = and i32 %.0194219.i.epil.1, 127
  %881 = zext i32 %880 to i64
  %882 = getelementptr [128 x float], [128 x float]* %0, i64 0, i64 %881
  store float %.0195218.i.epil.1, float* %882, align 4
  %883 = add nuw nsw i32 %.0194219.i.epil.1, 1
  %epil.iter.next.1 = add nuw nsw i32 %epil.iter.1, 1
  %lsr.iv.next295 = add nuw i64 %lsr.iv294, %61
  %epil.iter.cmp.1.not = icmp eq i32 %epil.iter.next.1, %xtraiter.1
  br i1 %epil.iter.cmp.1.not, label %after_for26.i.1.loopexit, label %for_loop_body24.i.epil.1, !llvm.loop !12

after_for26.i.1.loopexit:                         ; preds = %true_block30.i.epil.1
  br label %after_for26.i.1

after_for26.i.1:                                  ; preds = %after_for26.i.1.loopexit, %after_for26.i.loopexit.unr-lcssa.1, %after_for26.i
  %.0195.lcssa.i.1 = phi float [ %.0195.lcssa.i, %after_for26.i ], [ %.lcssa.lcssa.ph.1, %after_for26.i.loopexit.unr-lcssa.1 ], [ %876, %after_for26.i.1.loopexit ]
  %884 = sext i32 %748 to i64
  %885 = getelementptr [32 x i32], [32 x i32]* %2, i64 0, i64 %884
  store i32 %747, i32* %885, align 4
  %886 = getelementptr [32 x float], [32 x float]* %1, i64 0, i64 %884
  store float %.0195.lcssa.i, float* %886, align 4
  %indvars.iv.next261.i.1 = add nuw nsw i64 %indvars.iv260.i, 2
  %indvars.iv.next258.i.1 = sub i32 %indvars.iv.next258.i, %193
  %lsr.iv.next175 = add i64 %lsr.iv174, %218
  %lsr.iv.next181 = add i64 %lsr.iv180, %218
  %lsr.iv.next188 = add i64 %lsr.iv187, %218
  %lsr.iv.next195 = add i64 %lsr.iv194, %218
  %lsr.iv.next202 = add i64 %lsr.iv201, %218
  %lsr.iv.next209 = add i64 %lsr.iv208, %218
  %lsr.iv.next216 = add i64 %lsr.iv215, %218
  %lsr.iv.next223 = add i64 %lsr.iv222, %218
  %lsr.iv.next230 = add i32 %lsr.iv229, %240
  %lsr.iv.next237 = add i64 %lsr.iv236, %218
  %lsr.iv.next244 = add i64 %lsr.iv243, %218
  %lsr.iv.next251 = add i64 %lsr.iv250, %218
  %lsr.iv.next258 = add i64 %lsr.iv257, %218
  %lsr.iv.next265 = add i64 %lsr.iv264, %218
  %lsr.iv.next272 = add i64 %lsr.iv271, %218
  %lsr.iv.next279 = add i64 %lsr.iv278, %218
  %lsr.iv.next286 = add i64 %lsr.iv285, %218
  %lsr.iv.next293 = add i32 %lsr.iv292, %240
  %niter102.ncmp.1 = icmp eq i64 %indvars.iv.next261.i.1, %unroll_iter101
  br i1 %niter102.ncmp.1, label %after_for22.i.loopexit83.unr-lcssa.loopexit, label %for_loop_body20.i

true_block30.i:                                   ; preds = %after_if32.i
  %887 = and i32 %.0194219.i, 120
  %888 = zext i32 %887 to i64
  %889 = getelementptr [128 x float], [128 x float]* %0, i64 0, i64 %888
  store float %.0195218.i, float* %889, align 4
  br label %after_if32.i.1

after_if32.i.1:                                   ; preds = %after_if32.i.1, %true_block30.i
  %lsr.iv178 = phi i64 [ %lsr.iv.next179, %after_if32.i.1 ], [ 1, %true_block30.i ]
  %.0192216.i.1 = phi float [ %995, %true_block30.i ], [ %896, %after_if32.i.1 ]
  %890 = add i64 %lsr.iv182, %lsr.iv178
  %891 = add i64 %890, -1
  %tmp184 = trunc i64 %891 to i32
  %892 = sext i32 %tmp184 to i64
  %893 = getelementptr float, float* %10, i64 %892
  %894 = load float, float* %893, align 4
  %895 = fmul reassoc ninf nsz float %894, %894
  %896 = fadd reassoc ninf nsz float %895, %.0192216.i.1
  %897 = fcmp reassoc ninf nsz ogt float %896, 4.000000e+00
  %898 = icmp uge i64 %lsr.iv178, %61
  %899 = or i1 %898, %897
  %lsr.iv.next179 = add nuw nsw i64 %lsr.iv178, 1
  br i1 %899, label %true_block30.i.1, label %after_if32.i.1

true_block30.i.1:                                 ; preds = %after_if32.i.1
  %900 = or i32 %.0194219.i, 1
  %901 = and i32 %900, 121
  %902 = zext i32 %901 to i64
  %903 = getelementptr [128 x float], [128 x float]* %0, i64 0, i64 %902
  store float %995, float* %903, align 4
  br label %after_if32.i.2

after_if32.i.2:                                   ; preds = %after_if32.i.2, %true_block30.i.1
  %lsr.iv185 = phi i64 [ %lsr.iv.next186, %after_if32.i.2 ], [ 1, %true_block30.i.1 ]
  %.0192216.i.2 = phi float [ %896, %true_block30.i.1 ], [ %910, %after_if32.i.2 ]
  %904 = add i64 %lsr.iv189, %lsr.iv185
  %905 = add i64 %904, -1
  %tmp191 = trunc i64 %905 to i32
  %906 = sext i32 %tmp191 to i64
  %907 = getelementptr float, float* %10, i64 %906
  %908 = load float, float* %907, align 4
  %909 = fmul reassoc ninf nsz float %908, %908
  %910 = fadd reassoc ninf nsz float %909, %.0192216.i.2
  %911 = fcmp reassoc ninf nsz ogt float %910, 4.000000e+00
  %912 = icmp uge i64 %lsr.iv185, %61
  %913 = or i1 %912, %911
  %lsr.iv.next186 = add nuw nsw i64 %lsr.iv185, 1
  br i1 %913, label %true_block30.i.2, label %after_if32.i.2

true_block30.i.2:                                 ; preds = %after_if32.i.2
  %914 = or i32 %.0194219.i, 2
  %915 = and i32 %914, 122
  %916 = zext i32 %915 to i64
  %917 = getelementptr [128 x float], [128 x float]* %0, i64 0, i64 %916
  store float %896, float* %917, align 4
  br label %after_if32.i.3

after_if32.i.3:                                   ; preds = %after_if32.i.3, %true_block30.i.2
  %lsr.iv192 = phi i64 [ %lsr.iv.next193, %after_if32.i.3 ], [ 1, %true_block30.i.2 ]
  %.0192216.i.3 = phi float [ %910, %true_block30.i.2 ], [ %924, %after_if32.i.3 ]
  %918 = add i64 %lsr.iv196, %lsr.iv192
  %919 = add i64 %918, -1
  %tmp198 = trunc i64 %919 to i32
  %920 = sext i32 %tmp198 to i64
  %921 = getelementptr float, float* %10, i64 %920
  %922 = load float, float* %921, align 4
  %923 = fmul reassoc ninf nsz float %922, %922
  %924 = fadd reassoc ninf nsz float %923, %.0192216.i.3
  %925 = fcmp reassoc ninf nsz ogt float %924, 4.000000e+00
  %926 = icmp uge i64 %lsr.iv192, %61
  %927 = or i1 %926, %925
  %lsr.iv.next193 = add nuw nsw i64 %lsr.iv192, 1
  br i1 %927, label %true_block30.i.3, label %after_if32.i.3

true_block30.i.3:                                 ; preds = %after_if32.i.3
  %928 = or i32 %.0194219.i, 3
  %929 = and i32 %928, 123
  %930 = zext i32 %929 to i64
  %931 = getelementptr [128 x float], [128 x float]* %0, i64 0, i64 %930
  store float %910, float* %931, align 4
  br label %after_if32.i.4

after_if32.i.4:                                   ; preds = %after_if32.i.4, %true_block30.i.3
  %lsr.iv199 = phi i64 [ %lsr.iv.next200, %after_if32.i.4 ], [ 1, %true_block30.i.3 ]
  %.0192216.i.4 = phi float [ %924, %true_block30.i.3 ], [ %938, %after_if32.i.4 ]
  %932 = add i64 %lsr.iv203, %lsr.iv199
  %933 = add i64 %932, -1
  %tmp205 = trunc i64 %933 to i32
  %934 = sext i32 %tmp205 to i64
  %935 = getelementptr float, float* %10, i64 %934
  %936 = load float, float* %935, align 4
  %937 = fmul reassoc ninf nsz float %936, %936
  %938 = fadd reassoc ninf nsz float %937, %.0192216.i.4
  %939 = fcmp reassoc ninf nsz ogt float %938, 4.000000e+00
  %940 = icmp uge i64 %lsr.iv199, %61
  %941 = or i1 %940, %939
  %lsr.iv.next200 = add nuw nsw i64 %lsr.iv199, 1
  br i1 %941, label %true_block30.i.4, label %after_if32.i.4

true_block30.i.4:                                 ; preds = %after_if32.i.4
  %942 = or i32 %.0194219.i, 4
  %943 = and i32 %942, 124
  %944 = zext i32 %943 to i64
  %945 = getelementptr [128 x float], [128 x float]* %0, i64 0, i64 %944
  store float %924, float* %945, align 4
  br label %after_if32.i.5

after_if32.i.5:                                   ; preds = %after_if32.i.5, %true_block30.i.4
  %lsr.iv206 = phi i64 [ %lsr.iv.next207, %after_if32.i.5 ], [ 1, %true_block30.i.4 ]
  %.0192216.i.5 = phi float [ %938, %true_block30.i.4 ], [ %952, %after_if32.i.5 ]
  %946 = add i64 %lsr.iv210, %lsr.iv206
  %947 = add i64 %946, -1
  %tmp212 = trunc i64 %947 to i32
  %948 = sext i32 %tmp212 to i64
  %949 = getelementptr float, float* %10, i64 %948
  %950 = load float, float* %949, align 4
  %951 = fmul reassoc ninf nsz float %950, %950
  %952 = fadd reassoc ninf nsz float %951, %.0192216.i.5
  %953 = fcmp reassoc ninf nsz ogt float %952, 4.000000e+00
  %954 = icmp uge i64 %lsr.iv206, %61
  %955 = or i1 %954, %953
  %lsr.iv.next207 = add nuw nsw i64 %lsr.iv206, 1
  br i1 %955, label %true_block30.i.5, label %after_if32.i.5

true_block30.i.5:                                 ; preds = %after_if32.i.5
  %956 = or i32 %.0194219.i, 5
  %957 = and i32 %956, 125
  %958 = zext i32 %957 to i64
  %959 = getelementptr [128 x float], [128 x float]* %0, i64 0, i64 %958
  store float %938, float* %959, align 4
  br label %after_if32.i.6

after_if32.i.6:                                   ; preds = %after_if32.i.6, %true_block30.i.5
  %lsr.iv213 = phi i64 [ %lsr.iv.next214, %after_if32.i.6 ], [ 1, %true_block30.i.5 ]
  %.0192216.i.6 = phi float [ %952, %true_block30.i.5 ], [ %966, %after_if32.i.6 ]
  %960 = add i64 %lsr.iv217, %lsr.iv213
  %961 = add i64 %960, -1
  %tmp219 = trunc i64 %961 to i32
  %962 = sext i32 %tmp219 to i64
  %963 = getelementptr float, float* %10, i64 %962
  %964 = load float, float* %963, align 4
  %965 = fmul reassoc ninf nsz float %964, %964
  %966 = fadd reassoc ninf nsz float %965, %.0192216.i.6
  %967 = fcmp reassoc ninf nsz ogt float %966, 4.000000e+00
  %968 = icmp uge i64 %lsr.iv213, %61
  %969 = or i1 %968, %967
  %lsr.iv.next214 = add nuw nsw i64 %lsr.iv213, 1
  br i1 %969, label %true_block30.i.6, label %after_if32.i.6

true_block30.i.6:                                 ; preds = %after_if32.i.6
  %970 = or i32 %.0194219.i, 6
  %971 = and i32 %970, 126
  %972 = zext i32 %971 to i64
  %973 = getelementptr [128 x float], [128 x float]* %0, i64 0, i64 %972
  store float %952, float* %973, align 4
  br label %after_if32.i.7

after_if32.i.7:                                   ; preds = %after_if32.i.7, %true_block30.i.6
  %lsr.iv220 = phi i64 [ %lsr.iv.next221, %after_if32.i.7 ], [ 1, %true_block30.i.6 ]
  %.0192216.i.7 = phi float [ %966, %true_block30.i.6 ], [ %980, %after_if32.i.7 ]
  %974 = add i64 %lsr.iv224, %lsr.iv220
  %975 = add i64 %974, -1
  %tmp226 = trunc i64 %975 to i32
  %976 = sext i32 %tmp226 to i64
  %977 = getelementptr float, float* %10, i64 %976
  %978 = load float, float* %977, align 4
  %979 = fmul reassoc ninf nsz float %978, %978
  %980 = fadd reassoc ninf nsz float %979, %.0192216.i.7
  %981 = fcmp reassoc ninf nsz ogt float %980, 4.000000e+00
  %982 = icmp uge i64 %lsr.iv220, %61
  %983 = or i1 %982, %981
  %lsr.iv.next221 = add nuw nsw i64 %lsr.iv220, 1
  br i1 %983, label %true_block30.i.7, label %after_if32.i.7

true_block30.i.7:                                 ; preds = %after_if32.i.7
  %984 = or i32 %.0194219.i, 7
  %985 = and i32 %984, 127
  %986 = zext i32 %985 to i64
  %987 = getelementptr [128 x float], [128 x float]* %0, i64 0, i64 %986
  store float %966, float* %987, align 4
  %988 = add nuw nsw i32 %.0194219.i, 8
  %lsr.iv.next177 = add i64 %lsr.iv176, %99
  %lsr.iv.next183 = add i64 %lsr.iv182, %99
  %lsr.iv.next190 = add i64 %lsr.iv189, %99
  %lsr.iv.next197 = add i64 %lsr.iv196, %99
  %lsr.iv.next204 = add i64 %lsr.iv203, %99
  %lsr.iv.next211 = add i64 %lsr.iv210, %99
  %lsr.iv.next218 = add i64 %lsr.iv217, %99
  %lsr.iv.next225 = add i64 %lsr.iv224, %99
  %niter.ncmp.7 = icmp eq i32 %988, %unroll_iter
  br i1 %niter.ncmp.7, label %after_for26.i.loopexit.unr-lcssa.loopexit, label %for_loop_body24.i

after_if32.i:                                     ; preds = %after_if32.i, %for_loop_body24.i
  %lsr.iv = phi i64 [ %lsr.iv.next, %after_if32.i ], [ 1, %for_loop_body24.i ]
  %.0192216.i = phi float [ %.0195218.i, %for_loop_body24.i ], [ %995, %after_if32.i ]
  %989 = add i64 %lsr.iv176, %lsr.iv
  %990 = add i64 %989, -1
  %tmp = trunc i64 %990 to i32
  %991 = sext i32 %tmp to i64
  %992 = getelementptr float, float* %10, i64 %991
  %993 = load float, float* %992, align 4
  %994 = fmul reassoc ninf nsz float %993, %993
  %995 = fadd reassoc ninf nsz float %994, %.0192216.i
  %996 = fcmp reassoc ninf nsz ogt float %995, 4.000000e+00
  %997 = icmp uge i64 %lsr.iv, %61
  %998 = or i1 %997, %996
  %lsr.iv.next = add nuw nsw i64 %lsr.iv, 1
  br i1 %998, label %true_block30.i, label %after_if32.i

for_loop_body37.i:                                ; preds = %for_loop_body37.i.preheader, %after_for52.i
  %lsr.iv430 = phi i64 [ %146, %for_loop_body37.i.preheader ], [ %lsr.iv.next431, %after_for52.i ]
  %lsr.iv424 = phi i64 [ %152, %for_loop_body37.i.preheader ], [ %lsr.iv.next425, %after_for52.i ]
  %lsr.iv408 = phi i64 [ %150, %for_loop_body37.i.preheader ], [ %lsr.iv.next409, %after_for52.i ]
  %lsr.iv405 = phi i64 [ %148, %for_loop_body37.i.preheader ], [ %lsr.iv.next406, %after_for52.i ]
  %indvars.iv267.i = phi i64 [ %indvars.iv.next268.i, %after_for52.i ], [ 0, %for_loop_body37.i.preheader ]
  %lsr485 = trunc i64 %lsr.iv430 to i32
  %lsr483 = trunc i64 %lsr.iv424 to i32
  %999 = sext i32 %lsr483 to i64
  %scevgep420 = getelementptr float, float* %10, i64 %999
  %1000 = sext i32 %lsr485 to i64
  %scevgep413 = getelementptr float, float* %14, i64 %1000
  %1001 = trunc i64 %indvars.iv267.i to i32
  %1002 = mul i32 %1001, %64
  %1003 = add i32 %1002, %156
  %1004 = sext i32 %1003 to i64
  %1005 = mul i32 %1001, %65
  %1006 = add i32 %1005, %157
  %1007 = sext i32 %1006 to i64
  %1008 = xor i32 %1001, -1
  %1009 = add i32 %163, %1008
  %1010 = sext i32 %1009 to i64
  %1011 = getelementptr [128 x float], [128 x float]* %0, i64 0, i64 %1010
  %1012 = load float, float* %1011, align 4
  br label %after_if45.i

after_for39.i.loopexit:                           ; preds = %after_for52.i
  br label %after_for39.i

after_for39.i:                                    ; preds = %after_for39.i.loopexit, %after_for22.i
  %1013 = sext i32 %722 to i64
  %1014 = getelementptr [32 x i32], [32 x i32]* %2, i64 0, i64 %1013
  %1015 = load i32, i32* %1014, align 4
  %1016 = icmp eq i32 %1015, %160
  %1017 = sext i1 %1016 to i32
  %1018 = add i32 %722, %1017
  %1019 = add nuw nsw i32 %.0200230.i, 1
  %indvars.iv.next253.i = add i32 %indvars.iv252.i, 128
  %indvars.iv.next256.i = add i32 %indvars.iv255.i, -128
  %lsr.iv.next404 = add i32 %lsr.iv403, -128
  %exitcond270.not.i = icmp eq i32 %1019, %51
  br i1 %exitcond270.not.i, label %break_of_a_loop_over_a_field_adjoint_body_1048587_0.exit.loopexit, label %for_loop_body16.i

after_if45.i:                                     ; preds = %after_if45.i, %for_loop_body37.i
  %lsr.iv447 = phi i64 [ %lsr.iv.next448, %after_if45.i ], [ 1, %for_loop_body37.i ]
  %lsr.iv414 = phi i64 [ %lsr.iv.next415, %after_if45.i ], [ 0, %for_loop_body37.i ]
  %lsr.iv399 = phi i64 [ %lsr.iv.next400, %after_if45.i ], [ -1, %for_loop_body37.i ]
  %.0183224.i = phi float [ %1012, %for_loop_body37.i ], [ %1027, %after_if45.i ]
  %1020 = add nsw i64 %lsr.iv424, %lsr.iv399
  %1021 = trunc i64 %1020 to i32
  %1022 = sext i32 %1021 to i64
  %1023 = getelementptr float, float* %10, i64 %1022
  %1024 = getelementptr float, float* %1023, i64 1
  %1025 = load float, float* %1024, align 4
  %1026 = fmul reassoc ninf nsz float %1025, %1025
  %1027 = fadd reassoc ninf nsz float %1026, %.0183224.i
  %1028 = fcmp reassoc ninf nsz ogt float %1027, 4.000000e+00
  %1029 = add nsw i64 %lsr.iv399, 2
  %1030 = icmp uge i64 %1029, %61
  %1031 = or i1 %1030, %1028
  %lsr.iv.next400 = add nsw i64 %lsr.iv399, 1
  %lsr.iv.next415 = add nsw i64 %lsr.iv414, -4
  %lsr.iv.next448 = add nuw nsw i64 %lsr.iv447, 1
  br i1 %1031, label %for_loop_body50.i.preheader, label %after_if45.i

for_loop_body50.i.preheader:                      ; preds = %after_if45.i
  %scevgep420421 = bitcast float* %scevgep420 to i8*
  %scevgep413416 = bitcast float* %scevgep413 to i8*
  %scevgep = getelementptr float, float* %14, i64 %1004
  %scevgep40 = getelementptr float, float* %10, i64 %1007
  %1032 = add i64 %lsr.iv.next400, 1
  %min.iters.check = icmp ult i64 %lsr.iv.next400, 31
  br i1 %min.iters.check, label %for_loop_body50.i.preheader81, label %vector.scevcheck

vector.scevcheck:                                 ; preds = %for_loop_body50.i.preheader
  %1033 = mul nsw i64 %lsr.iv405, -1
  %1034 = add i64 %1033, %lsr.iv.next400
  %tmp407 = trunc i64 %1034 to i32
  %1035 = icmp slt i32 %tmp407, %1003
  %1036 = mul nsw i64 %lsr.iv408, -1
  %1037 = add i64 %1036, %lsr.iv.next400
  %tmp410 = trunc i64 %1037 to i32
  %1038 = icmp slt i32 %tmp410, %1006
  %1039 = icmp ugt i64 %lsr.iv.next400, 4294967295
  %1040 = or i1 %1038, %1039
  %1041 = or i1 %1035, %1040
  br i1 %1041, label %for_loop_body50.i.preheader81, label %vector.memcheck

vector.memcheck:                                  ; preds = %vector.scevcheck
  %1042 = mul i64 %lsr.iv.next415, -1
  %uglygep = getelementptr i8, i8* %scevgep413416, i64 %1042
  %uglygep417 = bitcast i8* %uglygep to float*
  %uglygep422 = getelementptr i8, i8* %scevgep420421, i64 %1042
  %uglygep422423 = bitcast i8* %uglygep422 to float*
  %bound0 = icmp ult float* %scevgep, %uglygep422423
  %bound1 = icmp ult float* %scevgep40, %uglygep417
  %found.conflict = and i1 %bound0, %bound1
  br i1 %found.conflict, label %for_loop_body50.i.preheader81, label %vector.ph

vector.ph:                                        ; preds = %vector.memcheck
  %n.vec = and i64 %1032, 9223372036854775776
  %1043 = add nsw i64 %n.vec, -32
  %1044 = lshr exact i64 %1043, 5
  %1045 = add nuw nsw i64 %1044, 1
  %xtraiter129 = and i64 %1045, 7
  %1046 = icmp ult i64 %1043, 224
  br i1 %1046, label %middle.block.unr-lcssa, label %vector.ph.new

vector.ph.new:                                    ; preds = %vector.ph
  %1047 = lshr i64 %lsr.iv447, 5
  %1048 = shl nuw nsw i64 %1047, 5
  %1049 = add nsw i64 %1048, -32
  %1050 = lshr i64 %1049, 5
  %1051 = add nuw nsw i64 %1050, 1
  %1052 = lshr i64 %1051, 3
  %1053 = shl nuw nsw i64 %1052, 3
  br label %vector.body

vector.body:                                      ; preds = %vector.body, %vector.ph.new
  %lsr.iv449 = phi i64 [ %lsr.iv.next450, %vector.body ], [ %1053, %vector.ph.new ]
  %index = phi i64 [ 0, %vector.ph.new ], [ %index.next.7, %vector.body ]
  %1054 = add i64 %lsr.iv424, %index
  %tmp445 = trunc i64 %1054 to i32
  %1055 = sext i32 %tmp445 to i64
  %1056 = getelementptr float, float* %10, i64 %1055
  %1057 = bitcast float* %1056 to <8 x float>*
  %wide.load = load <8 x float>, <8 x float>* %1057, align 4, !alias.scope !13
  %1058 = getelementptr float, float* %1056, i64 8
  %1059 = bitcast float* %1058 to <8 x float>*
  %wide.load45 = load <8 x float>, <8 x float>* %1059, align 4, !alias.scope !13
  %1060 = getelementptr float, float* %1056, i64 16
  %1061 = bitcast float* %1060 to <8 x float>*
  %wide.load46 = load <8 x float>, <8 x float>* %1061, align 4, !alias.scope !13
  %1062 = getelementptr float, float* %1056, i64 24
  %1063 = bitcast float* %1062 to <8 x float>*
  %wide.load47 = load <8 x float>, <8 x float>* %1063, align 4, !alias.scope !13
  %1064 = add i64 %lsr.iv430, %index
  %tmp446 = trunc i64 %1064 to i32
  %1065 = sext i32 %tmp446 to i64
  %1066 = getelementptr float, float* %14, i64 %1065
  %1067 = bitcast float* %1066 to <8 x float>*
  %wide.load48 = load <8 x float>, <8 x float>* %1067, align 4, !alias.scope !16, !noalias !13
  %1068 = getelementptr float, float* %1066, i64 8
  %1069 = bitcast float* %1068 to <8 x float>*
  %wide.load49 = load <8 x float>, <8 x float>* %1069, align 4, !alias.scope !16, !noalias !13
  %1070 = getelementptr float, float* %1066, i64 16
  %1071 = bitcast float* %1070 to <8 x float>*
  %wide.load50 = load <8 x float>, <8 x float>* %1071, align 4, !alias.scope !16, !noalias !13
  %1072 = getelementptr float, float* %1066, i64 24
  %1073 = bitcast float* %1072 to <8 x float>*
  %wide.load51 = load <8 x float>, <8 x float>* %1073, align 4, !alias.scope !16, !noalias !13
  %1074 = fmul reassoc ninf nsz <8 x float> %broadcast.splat, %wide.load
  %1075 = fmul reassoc ninf nsz <8 x float> %broadcast.splat, %wide.load45
  %1076 = fmul reassoc ninf nsz <8 x float> %broadcast.splat, %wide.load46
  %1077 = fmul reassoc ninf nsz <8 x float> %broadcast.splat, %wide.load47
  %1078 = fadd reassoc ninf nsz <8 x float> %wide.load48, %1074
  %1079 = fadd reassoc ninf nsz <8 x float> %wide.load49, %1075
  %1080 = fadd reassoc ninf nsz <8 x float> %wide.load50, %1076
  %1081 = fadd reassoc ninf nsz <8 x float> %wide.load51, %1077
  store <8 x float> %1078, <8 x float>* %1067, align 4, !alias.scope !16, !noalias !13
  store <8 x float> %1079, <8 x float>* %1069, align 4, !alias.scope !16, !noalias !13
  store <8 x float> %1080, <8 x float>* %1071, align 4, !alias.scope !16, !noalias !13
  store <8 x float> %1081, <8 x float>* %1073, align 4, !alias.scope !16, !noalias !13
  %1082 = add i64 %1054, 32
  %tmp441 = trunc i64 %1082 to i32
  %1083 = sext i32 %tmp441 to i64
  %1084 = getelementptr float, float* %10, i64 %1083
  %1085 = bitcast float* %1084 to <8 x float>*
  %wide.load.1 = load <8 x float>, <8 x float>* %1085, align 4, !alias.scope !13
  %1086 = getelementptr float, float* %1084, i64 8
  %1087 = bitcast float* %1086 to <8 x float>*
  %wide.load45.1 = load <8 x float>, <8 x float>* %1087, align 4, !alias.scope !13
  %1088 = getelementptr float, float* %1084, i64 16
  %1089 = bitcast float* %1088 to <8 x float>*
  %wide.load46.1 = load <8 x float>, <8 x float>* %1089, align 4, !alias.scope !13
  %1090 = getelementptr float, float* %1084, i64 24
  %1091 = bitcast float* %1090 to <8 x float>*
  %wide.load47.1 = load <8 x float>, <8 x float>* %1091, align 4, !alias.scope !13
  %1092 = add i64 %1064, 32
  %tmp442 = trunc i64 %1092 to i32
  %1093 = sext i32 %tmp442 to i64
  %1094 = getelementptr float, float* %14, i64 %1093
  %1095 = bitcast float* %1094 to <8 x float>*
  %wide.load48.1 = load <8 x float>, <8 x float>* %1095, align 4, !alias.scope !16, !noalias !13
  %1096 = getelementptr float, float* %1094, i64 8
  %1097 = bitcast float* %1096 to <8 x float>*
  %wide.load49.1 = load <8 x float>, <8 x float>* %1097, align 4, !alias.scope !16, !noalias !13
  %1098 = getelementptr float, float* %1094, i64 16
  %1099 = bitcast float* %1098 to <8 x float>*
  %wide.load50.1 = load <8 x float>, <8 x float>* %1099, align 4, !alias.scope !16, !noalias !13
  %1100 = getelementptr float, float* %1094, i64 24
  %1101 = bitcast float* %1100 to <8 x float>*
  %wide.load51.1 = load <8 x float>, <8 x float>* %1101, align 4, !alias.scope !16, !noalias !13
  %1102 = fmul reassoc ninf nsz <8 x float> %broadcast.splat, %wide.load.1
  %1103 = fmul reassoc ninf nsz <8 x float> %broadcast.splat, %wide.load45.1
  %1104 = fmul reassoc ninf nsz <8 x float> %broadcast.splat, %wide.load46.1
  %1105 = fmul reassoc ninf nsz <8 x float> %broadcast.splat, %wide.load47.1
  %1106 = fadd reassoc ninf nsz <8 x float> %wide.load48.1, %1102
  %1107 = fadd reassoc ninf nsz <8 x float> %wide.load49.1, %1103
  %1108 = fadd reassoc ninf nsz <8 x float> %wide.load50.1, %1104
  %1109 = fadd reassoc ninf nsz <8 x float> %wide.load51.1, %1105
  store <8 x float> %1106, <8 x float>* %1095, align 4, !alias.scope !16, !noalias !13
  store <8 x float> %1107, <8 x float>* %1097, align 4, !alias.scope !16, !noalias !13
  store <8 x float> %1108, <8 x float>* %1099, align 4, !alias.scope !16, !noalias !13
  store <8 x float> %1109, <8 x float>* %1101, align 4, !alias.scope !16, !noalias !13
  %1110 = add i64 %1054, 64
  %tmp439 = trunc i64 %1110 to i32
  %1111 = sext i32 %tmp439 to i64
  %1112 = getelementptr float, float* %10, i64 %1111
  %1113 = bitcast float* %1112 to <8 x float>*
  %wide.load.2 = load <8 x float>, <8 x float>* %1113, align 4, !alias.scope !13
  %1114 = getelementptr float, float* %1112, i64 8
  %1115 = bitcast float* %1114 to <8 x float>*
  %wide.load45.2 = load <8 x float>, <8 x float>* %1115, align 4, !alias.scope !13
  %1116 = getelementptr float, float* %1112, i64 16
  %1117 = bitcast float* %1116 to <8 x float>*
  %wide.load46.2 = load <8 x float>, <8 x float>* %1117, align 4, !alias.scope !13
  %1118 = getelementptr float, float* %1112, i64 24
  %1119 = bitcast float* %1118 to <8 x float>*
  %wide.load47.2 = load <8 x float>, <8 x float>* %1119, align 4, !alias.scope !13
  %1120 = add i64 %1064, 64
  %tmp440 = trunc i64 %1120 to i32
  %1121 = sext i32 %tmp440 to i64
  %1122 = getelementptr float, float* %14, i64 %1121
  %1123 = bitcast float* %1122 to <8 x float>*
  %wide.load48.2 = load <8 x float>, <8 x float>* %1123, align 4, !alias.scope !16, !noalias !13
  %1124 = getelementptr float, float* %1122, i64 8
  %1125 = bitcast float* %1124 to <8 x float>*
  %wide.load49.2 = load <8 x float>, <8 x float>* %1125, align 4, !alias.scope !16, !noalias !13
  %1126 = getelementptr float, float* %1122, i64 16
  %1127 = bitcast float* %1126 to <8 x float>*
  %wide.load50.2 = load <8 x float>, <8 x float>* %1127, align 4, !alias.scope !16, !noalias !13
  %1128 = getelementptr float, float* %1122, i64 24
  %1129 = bitcast float* %1128 to <8 x float>*
  %wide.load51.2 = load <8 x float>, <8 x float>* %1129, align 4, !alias.scope !16, !noalias !13
  %1130 = fmul reassoc ninf nsz <8 x float> %broadcast.splat, %wide.load.2
  %1131 = fmul reassoc ninf nsz <8 x float> %broadcast.splat, %wide.load45.2
  %1132 = fmul reassoc ninf nsz <8 x float> %broadcast.splat, %wide.load46.2
  %1133 = fmul reassoc ninf nsz <8 x float> %broadcast.splat, %wide.load47.2
  %1134 = fadd reassoc ninf nsz <8 x float> %wide.load48.2, %1130
  %1135 = fadd reassoc ninf nsz <8 x float> %wide.load49.2, %1131
  %1136 = fadd reassoc ninf nsz <8 x float> %wide.load50.2, %1132
  %1137 = fadd reassoc ninf nsz <8 x float> %wide.load51.2, %1133
  store <8 x float> %1134, <8 x float>* %1123, align 4, !alias.scope !16, !noalias !13
  store <8 x float> %1135, <8 x float>* %1125, align 4, !alias.scope !16, !noalias !13
  store <8 x float> %1136, <8 x float>* %1127, align 4, !alias.scope !16, !noalias !13
  store <8 x float> %1137, <8 x float>* %1129, align 4, !alias.scope !16, !noalias !13
  %1138 = add i64 %1054, 96
  %tmp437 = trunc i64 %1138 to i32
  %1139 = sext i32 %tmp437 to i64
  %1140 = getelementptr float, float* %10, i64 %1139
  %1141 = bitcast float* %1140 to <8 x float>*
  %wide.load.3 = load <8 x float>, <8 x float>* %1141, align 4, !alias.scope !13
  %1142 = getelementptr float, float* %1140, i64 8
  %1143 = bitcast float* %1142 to <8 x float>*
  %wide.load45.3 = load <8 x float>, <8 x float>* %1143, align 4, !alias.scope !13
  %1144 = getelementptr float, float* %1140, i64 16
  %1145 = bitcast float* %1144 to <8 x float>*
  %wide.load46.3 = load <8 x float>, <8 x float>* %1145, align 4, !alias.scope !13
  %1146 = getelementptr float, float* %1140, i64 24
  %1147 = bitcast float* %1146 to <8 x float>*
  %wide.load47.3 = load <8 x float>, <8 x float>* %1147, align 4, !alias.scope !13
  %1148 = add i64 %1064, 96
  %tmp438 = trunc i64 %1148 to i32
  %1149 = sext i32 %tmp438 to i64
  %1150 = getelementptr float, float* %14, i64 %1149
  %1151 = bitcast float* %1150 to <8 x float>*
  %wide.load48.3 = load <8 x float>, <8 x float>* %1151, align 4, !alias.scope !16, !noalias !13
  %1152 = getelementptr float, float* %1150, i64 8
  %1153 = bitcast float* %1152 to <8 x float>*
  %wide.load49.3 = load <8 x float>, <8 x float>* %1153, align 4, !alias.scope !16, !noalias !13
  %1154 = getelementptr float, float* %1150, i64 16
  %1155 = bitcast float* %1154 to <8 x float>*
  %wide.load50.3 = load <8 x float>, <8 x float>* %1155, align 4, !alias.scope !16, !noalias !13
  %1156 = getelementptr float, float* %1150, i64 24
  %1157 = bitcast float* %1156 to <8 x float>*
  %wide.load51.3 = load <8 x float>, <8 x float>* %1157, align 4, !alias.scope !16, !noalias !13
  %1158 = fmul reassoc ninf nsz <8 x float> %broadcast.splat, %wide.load.3
  %1159 = fmul reassoc ninf nsz <8 x float> %broadcast.splat, %wide.load45.3
  %1160 = fmul reassoc ninf nsz <8 x float> %broadcast.splat, %wide.load46.3
  %1161 = fmul reassoc ninf nsz <8 x float> %broadcast.splat, %wide.load47.3
  %1162 = fadd reassoc ninf nsz <8 x float> %wide.load48.3, %1158
  %1163 = fadd reassoc ninf nsz <8 x float> %wide.load49.3, %1159
  %1164 = fadd reassoc ninf nsz <8 x float> %wide.load50.3, %1160
  %1165 = fadd reassoc ninf nsz <8 x float> %wide.load51.3, %1161
  store <8 x float> %1162, <8 x float>* %1151, align 4, !alias.scope !16, !noalias !13
  store <8 x float> %1163, <8 x float>* %1153, align 4, !alias.scope !16, !noalias !13
  store <8 x float> %1164, <8 x float>* %1155, align 4, !alias.scope !16, !noalias !13
  store <8 x float> %1165, <8 x float>* %1157, align 4, !alias.scope !16, !noalias !13
  %1166 = add i64 %1054, 128
  %tmp435 = trunc i64 %1166 to i32
  %1167 = sext i32 %tmp435 to i64
  %1168 = getelementptr float, float* %10, i64 %1167
  %1169 = bitcast float* %1168 to <8 x float>*
  %wide.load.4 = load <8 x float>, <8 x float>* %1169, align 4, !alias.scope !13
  %1170 = getelementptr float, float* %1168, i64 8
  %1171 = bitcast float* %1170 to <8 x float>*
  %wide.load45.4 = load <8 x float>, <8 x float>* %1171, align 4, !alias.scope !13
  %1172 = getelementptr float, float* %1168, i64 16
  %1173 = bitcast float* %1172 to <8 x float>*
  %wide.load46.4 = load <8 x float>, <8 x float>* %1173, align 4, !alias.scope !13
  %1174 = getelementptr float, float* %1168, i64 24
  %1175 = bitcast float* %1174 to <8 x float>*
  %wide.load47.4 = load <8 x float>, <8 x float>* %1175, align 4, !alias.scope !13
  %1176 = add i64 %1064, 128
  %tmp436 = trunc i64 %1176 to i32
  %1177 = sext i32 %tmp436 to i64
  %1178 = getelementptr float, float* %14, i64 %1177
  %1179 = bitcast float* %1178 to <8 x float>*
  %wide.load48.4 = load <8 x float>, <8 x float>* %1179, align 4, !alias.scope !16, !noalias !13
  %1180 = getelementptr float, float* %1178, i64 8
  %1181 = bitcast float* %1180 to <8 x float>*
  %wide.load49.4 = load <8 x float>, <8 x float>* %1181, align 4, !alias.scope !16, !noalias !13
  %1182 = getelementptr float, float* %1178, i64 16
  %1183 = bitcast float* %1182 to <8 x float>*
  %wide.load50.4 = load <8 x float>, <8 x float>* %1183, align 4, !alias.scope !16, !noalias !13
  %1184 = getelementptr float, float* %1178, i64 24
  %1185 = bitcast float* %1184 to <8 x float>*
  %wide.load51.4 = load <8 x float>, <8 x float>* %1185, align 4, !alias.scope !16, !noalias !13
  %1186 = fmul reassoc ninf nsz <8 x float> %broadcast.splat, %wide.load.4
  %1187 = fmul reassoc ninf nsz <8 x float> %broadcast.splat, %wide.load45.4
  %1188 = fmul reassoc ninf nsz <8 x float> %broadcast.splat, %wide.load46.4
  %1189 = fmul reassoc ninf nsz <8 x float> %broadcast.splat, %wide.load47.4
  %1190 = fadd reassoc ninf nsz <8 x float> %wide.load48.4, %1186
  %1191 = fadd reassoc ninf nsz <8 x float> %wide.load49.4, %1187
  %1192 = fadd reassoc ninf nsz <8 x float> %wide.load50.4, %1188
  %1193 = fadd reassoc ninf nsz <8 x float> %wide.load51.4, %1189
  store <8 x float> %1190, <8 x float>* %1179, align 4, !alias.scope !16, !noalias !13
  store <8 x float> %1191, <8 x float>* %1181, align 4, !alias.scope !16, !noalias !13
  store <8 x float> %1192, <8 x float>* %1183, align 4, !alias.scope !16, !noalias !13
  store <8 x float> %1193, <8 x float>* %1185, align 4, !alias.scope !16, !noalias !13
  %1194 = add i64 %1054, 160
  %tmp433 = trunc i64 %1194 to i32
  %1195 = sext i32 %tmp433 to i64
  %1196 = getelementptr float, float* %10, i64 %1195
  %1197 = bitcast float* %1196 to <8 x float>*
  %wide.load.5 = load <8 x float>, <8 x float>* %1197, align 4, !alias.scope !13
  %1198 = getelementptr float, float* %1196, i64 8
  %1199 = bitcast float* %1198 to <8 x float>*
  %wide.load45.5 = load <8 x float>, <8 x float>* %1199, align 4, !alias.scope !13
  %1200 = getelementptr float, float* %1196, i64 16
  %1201 = bitcast float* %1200 to <8 x float>*
  %wide.load46.5 = load <8 x float>, <8 x float>* %1201, align 4, !alias.scope !13
  %1202 = getelementptr float, float* %1196, i64 24
  %1203 = bitcast float* %1202 to <8 x float>*
  %wide.load47.5 = load <8 x float>, <8 x float>* %1203, align 4, !alias.scope !13
  %1204 = add i64 %1064, 160
  %tmp434 = trunc i64 %1204 to i32
  %1205 = sext i32 %tmp434 to i64
  %1206 = getelementptr float, float* %14, i64 %1205
  %1207 = bitcast float* %1206 to <8 x float>*
  %wide.load48.5 = load <8 x float>, <8 x float>* %1207, align 4, !alias.scope !16, !noalias !13
  %1208 = getelementptr float, float* %1206, i64 8
  %1209 = bitcast float* %1208 to <8 x float>*
  %wide.load49.5 = load <8 x float>, <8 x float>* %1209, align 4, !alias.scope !16, !noalias !13
  %1210 = getelementptr float, float* %1206, i64 16
  %1211 = bitcast float* %1210 to <8 x float>*
  %wide.load50.5 = load <8 x float>, <8 x float>* %1211, align 4, !alias.scope !16, !noalias !13
  %1212 = getelementptr float, float* %1206, i64 24
  %1213 = bitcast float* %1212 to <8 x float>*
  %wide.load51.5 = load <8 x float>, <8 x float>* %1213, align 4, !alias.scope !16, !noalias !13
  %1214 = fmul reassoc ninf nsz <8 x float> %broadcast.splat, %wide.load.5
  %1215 = fmul reassoc ninf nsz <8 x float> %broadcast.splat, %wide.load45.5
  %1216 = fmul reassoc ninf nsz <8 x float> %broadcast.splat, %wide.load46.5
  %1217 = fmul reassoc ninf nsz <8 x float> %broadcast.splat, %wide.load47.5
  %1218 = fadd reassoc ninf nsz <8 x float> %wide.load48.5, %1214
  %1219 = fadd reassoc ninf nsz <8 x float> %wide.load49.5, %1215
  %1220 = fadd reassoc ninf nsz <8 x float> %wide.load50.5, %1216
  %1221 = fadd reassoc ninf nsz <8 x float> %wide.load51.5, %1217
  store <8 x float> %1218, <8 x float>* %1207, align 4, !alias.scope !16, !noalias !13
  store <8 x float> %1219, <8 x float>* %1209, align 4, !alias.scope !16, !noalias !13
  store <8 x float> %1220, <8 x float>* %1211, align 4, !alias.scope !16, !noalias !13
  store <8 x float> %1221, <8 x float>* %1213, align 4, !alias.scope !16, !noalias !13
  %1222 = add i64 %1054, 192
  %tmp427 = trunc i64 %1222 to i32
  %1223 = sext i32 %tmp427 to i64
  %1224 = getelementptr float, float* %10, i64 %1223
  %1225 = bitcast float* %1224 to <8 x float>*
  %wide.load.6 = load <8 x float>, <8 x float>* %1225, align 4, !alias.scope !13
  %1226 = getelementptr float, float* %1224, i64 8
  %1227 = bitcast float* %1226 to <8 x float>*
  %wide.load45.6 = load <8 x float>, <8 x float>* %1227, align 4, !alias.scope !13
  %1228 = getelementptr float, float* %1224, i64 16
  %1229 = bitcast float* %1228 to <8 x float>*
  %wide.load46.6 = load <8 x float>, <8 x float>* %1229, align 4, !alias.scope !13
  %1230 = getelementptr float, float* %1224, i64 24
  %1231 = bitcast float* %1230 to <8 x float>*
  %wide.load47.6 = load <8 x float>, <8 x float>* %1231, align 4, !alias.scope !13
  %1232 = add i64 %1064, 192
  %tmp432 = trunc i64 %1232 to i32
  %1233 = sext i32 %tmp432 to i64
  %1234 = getelementptr float, float* %14, i64 %1233
  %1235 = bitcast float* %1234 to <8 x float>*
  %wide.load48.6 = load <8 x float>, <8 x float>* %1235, align 4, !alias.scope !16, !noalias !13
  %1236 = getelementptr float, float* %1234, i64 8
  %1237 = bitcast float* %1236 to <8 x float>*
  %wide.load49.6 = load <8 x float>, <8 x float>* %1237, align 4, !alias.scope !16, !noalias !13
  %1238 = getelementptr float, float* %1234, i64 16
  %1239 = bitcast float* %1238 to <8 x float>*
  %wide.load50.6 = load <8 x float>, <8 x float>* %1239, align 4, !alias.scope !16, !noalias !13
  %1240 = getelementptr float, float* %1234, i64 24
  %1241 = bitcast float* %1240 to <8 x float>*
  %wide.load51.6 = load <8 x float>, <8 x float>* %1241, align 4, !alias.scope !16, !noalias !13
  %1242 = fmul reassoc ninf nsz <8 x float> %broadcast.splat, %wide.load.6
  %1243 = fmul reassoc ninf nsz <8 x float> %broadcast.splat, %wide.load45.6
  %1244 = fmul reassoc ninf nsz <8 x float> %broadcast.splat, %wide.load46.6
  %1245 = fmul reassoc ninf nsz <8 x float> %broadcast.splat, %wide.load47.6
  %1246 = fadd reassoc ninf nsz <8 x float> %wide.load48.6, %1242
  %1247 = fadd reassoc ninf nsz <8 x float> %wide.load49.6, %1243
  %1248 = fadd reassoc ninf nsz <8 x float> %wide.load50.6, %1244
  %1249 = fadd reassoc ninf nsz <8 x float> %wide.load51.6, %1245
  store <8 x float> %1246, <8 x float>* %1235, align 4, !alias.scope !16, !noalias !13
  store <8 x float> %1247, <8 x float>* %1237, align 4, !alias.scope !16, !noalias !13
  store <8 x float> %1248, <8 x float>* %1239, align 4, !alias.scope !16, !noalias !13
  store <8 x float> %1249, <8 x float>* %1241, align 4, !alias.scope !16, !noalias !13
  %1250 = add i64 %1054, 224
  %tmp443 = trunc i64 %1250 to i32
  %1251 = sext i32 %tmp443 to i64
  %1252 = getelementptr float, float* %10, i64 %1251
  %1253 = bitcast float* %1252 to <8 x float>*
  %wide.load.7 = load <8 x float>, <8 x float>* %1253, align 4, !alias.scope !13
  %1254 = getelementptr float, float* %1252, i64 8
  %1255 = bitcast float* %1254 to <8 x float>*
  %wide.load45.7 = load <8 x float>, <8 x float>* %1255, align 4, !alias.scope !13
  %1256 = getelementptr float, float* %1252, i64 16
  %1257 = bitcast float* %1256 to <8 x float>*
  %wide.load46.7 = load <8 x float>, <8 x float>* %1257, align 4, !alias.scope !13
  %1258 = getelementptr float, float* %1252, i64 24
  %1259 = bitcast float* %1258 to <8 x float>*
  %wide.load47.7 = load <8 x float>, <8 x float>* %1259, align 4, !alias.scope !13
  %1260 = add i64 %1064, 224
  %tmp444 = trunc i64 %1260 to i32
  %1261 = sext i32 %tmp444 to i64
  %1262 = getelementptr float, float* %14, i64 %1261
  %1263 = bitcast float* %1262 to <8 x float>*
  %wide.load48.7 = load <8 x float>, <8 x float>* %1263, align 4, !alias.scope !16, !noalias !13
  %1264 = getelementptr float, float* %1262, i64 8
  %1265 = bitcast float* %1264 to <8 x float>*
  %wide.load49.7 = load <8 x float>, <8 x float>* %1265, align 4, !alias.scope !16, !noalias !13
  %1266 = getelementptr float, float* %1262, i64 16
  %1267 = bitcast float* %1266 to <8 x float>*
  %wide.load50.7 = load <8 x float>, <8 x float>* %1267, align 4, !alias.scope !16, !noalias !13
  %1268 = getelementptr float, float* %1262, i64 24
  %1269 = bitcast float* %1268 to <8 x float>*
  %wide.load51.7 = load <8 x float>, <8 x float>* %1269, align 4, !alias.scope !16, !noalias !13
  %1270 = fmul reassoc ninf nsz <8 x float> %broadcast.splat, %wide.load.7
  %1271 = fmul reassoc ninf nsz <8 x float> %broadcast.splat, %wide.load45.7
  %1272 = fmul reassoc ninf nsz <8 x float> %broadcast.splat, %wide.load46.7
  %1273 = fmul reassoc ninf nsz <8 x float> %broadcast.splat, %wide.load47.7
  %1274 = fadd reassoc ninf nsz <8 x float> %wide.load48.7, %1270
  %1275 = fadd reassoc ninf nsz <8 x float> %wide.load49.7, %1271
  %1276 = fadd reassoc ninf nsz <8 x float> %wide.load50.7, %1272
  %1277 = fadd reassoc ninf nsz <8 x float> %wide.load51.7, %1273
  store <8 x float> %1274, <8 x float>* %1263, align 4, !alias.scope !16, !noalias !13
  store <8 x float> %1275, <8 x float>* %1265, align 4, !alias.scope !16, !noalias !13
  store <8 x float> %1276, <8 x float>* %1267, align 4, !alias.scope !16, !noalias !13
  store <8 x float> %1277, <8 x float>* %1269, align 4, !alias.scope !16, !noalias !13
  %index.next.7 = add i64 %index, 256
  %lsr.iv.next450 = add i64 %lsr.iv449, -8
  %niter133.ncmp.7 = icmp eq i64 %lsr.iv.next450, 0
  br i1 %niter133.ncmp.7, label %middle.block.unr-lcssa.loopexit, label %vector.body, !llvm.loop !18

middle.block.unr-lcssa.loopexit:                  ; preds = %vector.body
  br label %middle.block.unr-lcssa

middle.block.unr-lcssa:                           ; preds = %middle.block.unr-lcssa.loopexit, %vector.ph
  %index.unr = phi i64 [ 0, %vector.ph ], [ %index.next.7, %middle.block.unr-lcssa.loopexit ]
  %lcmp.mod131.not = icmp eq i64 %xtraiter129, 0
  br i1 %lcmp.mod131.not, label %middle.block, label %vector.body.epil.preheader

vector.body.epil.preheader:                       ; preds = %middle.block.unr-lcssa
  %1278 = trunc i64 %index.unr to i32
  %1279 = add i32 %lsr485, %1278
  %1280 = add i32 %lsr483, %1278
  %1281 = lshr i64 %lsr.iv447, 5
  %1282 = shl nuw nsw i64 %1281, 5
  %1283 = add nsw i64 %1282, -32
  %1284 = lshr i64 %1283, 5
  %1285 = trunc i64 %1284 to i3
  %1286 = add i3 %1285, 1
  %1287 = zext i3 %1286 to i64
  br label %vector.body.epil

vector.body.epil:                                 ; preds = %vector.body.epil.preheader, %vector.body.epil
  %lsr.iv455 = phi i64 [ %1287, %vector.body.epil.preheader ], [ %lsr.iv.next456, %vector.body.epil ]
  %lsr.iv453 = phi i32 [ %1280, %vector.body.epil.preheader ], [ %lsr.iv.next454, %vector.body.epil ]
  %lsr.iv451 = phi i32 [ %1279, %vector.body.epil.preheader ], [ %lsr.iv.next452, %vector.body.epil ]
  %1288 = sext i32 %lsr.iv453 to i64
  %1289 = getelementptr float, float* %10, i64 %1288
  %1290 = bitcast float* %1289 to <8 x float>*
  %wide.load.epil = load <8 x float>, <8 x float>* %1290, align 4, !alias.scope !13
  %1291 = getelementptr float, float* %1289, i64 8
  %1292 = bitcast float* %1291 to <8 x float>*
  %wide.load45.epil = load <8 x float>, <8 x float>* %1292, align 4, !alias.scope !13
  %1293 = getelementptr float, float* %1289, i64 16
  %1294 = bitcast float* %1293 to <8 x float>*
  %wide.load46.epil = load <8 x float>, <8 x float>* %1294, align 4, !alias.scope !13
  %1295 = getelementptr float, float* %1289, i64 24
  %1296 = bitcast float* %1295 to <8 x float>*
  %wide.load47.epil = load <8 x float>, <8 x float>* %1296, align 4, !alias.scope !13
  %1297 = sext i32 %lsr.iv451 to i64
  %1298 = getelementptr float, float* %14, i64 %1297
  %1299 = bitcast float* %1298 to <8 x float>*
  %wide.load48.epil = load <8 x float>, <8 x float>* %1299, align 4, !alias.scope !16, !noalias !13
  %1300 = getelementptr float, float* %1298, i64 8
  %1301 = bitcast float* %1300 to <8 x float>*
  %wide.load49.epil = load <8 x float>, <8 x float>* %1301, align 4, !alias.scope !16, !noalias !13
  %1302 = getelementptr float, float* %1298, i64 16
  %1303 = bitcast float* %1302 to <8 x float>*
  %wide.load50.epil = load <8 x float>, <8 x float>* %1303, align 4, !alias.scope !16, !noalias !13
  %1304 = getelementptr float, float* %1298, i64 24
  %1305 = bitcast float* %1304 to <8 x float>*
  %wide.load51.epil = load <8 x float>, <8 x float>* %1305, align 4, !alias.scope !16, !noalias !13
  %1306 = fmul reassoc ninf nsz <8 x float> %broadcast.splat, %wide.load.epil
  %1307 = fmul reassoc ninf nsz <8 x float> %broadcast.splat, %wide.load45.epil
  %1308 = fmul reassoc ninf nsz <8 x float> %broadcast.splat, %wide.load46.epil
  %1309 = fmul reassoc ninf nsz <8 x float> %broadcast.splat, %wide.load47.epil
  %1310 = fadd reassoc ninf nsz <8 x float> %wide.load48.epil, %1306
  %1311 = fadd reassoc ninf nsz <8 x float> %wide.load49.epil, %1307
  %1312 = fadd reassoc ninf nsz <8 x float> %wide.load50.epil, %1308
  %1313 = fadd reassoc ninf nsz <8 x float> %wide.load51.epil, %1309
  store <8 x float> %1310, <8 x float>* %1299, align 4, !alias.scope !16, !noalias !13
  store <8 x float> %1311, <8 x float>* %1301, align 4, !alias.scope !16, !noalias !13
  store <8 x float> %1312, <8 x float>* %1303, align 4, !alias.scope !16, !noalias !13
  store <8 x float> %1313, <8 x float>* %1305, align 4, !alias.scope !16, !noalias !13
  %lsr.iv.next452 = add i32 %lsr.iv451, 32
  %lsr.iv.next454 = add i32 %lsr.iv453, 32
  %lsr.iv.next456 = add nsw i64 %lsr.iv455, -1
  %epil.iter130.cmp.not = icmp eq i64 %lsr.iv.next456, 0
  br i1 %epil.iter130.cmp.not, label %middle.block.loopexit, label %vector.body.epil, !llvm.loop !19

middle.block.loopexit:                            ; preds = %vector.body.epil
  br label %middle.block

middle.block:                                     ; preds = %middle.block.loopexit, %middle.block.unr-lcssa
  %cmp.n = icmp eq i64 %1032, %n.vec
  br i1 %cmp.n, label %after_for52.i, label %for_loop_body50.i.preheader81

for_loop_body50.i.preheader81:                    ; preds = %vector.memcheck, %vector.scevcheck, %for_loop_body50.i.preheader, %middle.block
  %indvars.iv.ph = phi i64 [ 0, %vector.memcheck ], [ 0, %vector.scevcheck ], [ 0, %for_loop_body50.i.preheader ], [ %n.vec, %middle.block ]
  %1314 = mul nsw i64 %indvars.iv.ph, -1
  %1315 = add i64 %1314, %lsr.iv.next400
  %xtraiter134 = and i64 %1032, 7
  %lcmp.mod135.not = icmp eq i64 %xtraiter134, 0
  br i1 %lcmp.mod135.not, label %for_loop_body50.i.preheader81.for_loop_body50.i.prol.loopexit_crit_edge, label %for_loop_body50.i.prol.preheader

for_loop_body50.i.preheader81.for_loop_body50.i.prol.loopexit_crit_edge: ; preds = %for_loop_body50.i.preheader81
  br label %for_loop_body50.i.prol.loopexit

for_loop_body50.i.prol.preheader:                 ; preds = %for_loop_body50.i.preheader81
  %1316 = trunc i64 %lsr.iv447 to i3
  %1317 = zext i3 %1316 to i64
  br label %for_loop_body50.i.prol

for_loop_body50.i.prol:                           ; preds = %for_loop_body50.i.prol.preheader, %for_loop_body50.i.prol
  %lsr.iv459 = phi i64 [ %1317, %for_loop_body50.i.prol.preheader ], [ %lsr.iv.next460, %for_loop_body50.i.prol ]
  %indvars.iv.prol = phi i64 [ %indvars.iv.next.prol, %for_loop_body50.i.prol ], [ %indvars.iv.ph, %for_loop_body50.i.prol.preheader ]
  %1318 = add i64 %lsr.iv424, %indvars.iv.prol
  %tmp458 = trunc i64 %1318 to i32
  %1319 = sext i32 %tmp458 to i64
  %1320 = getelementptr float, float* %10, i64 %1319
  %1321 = load float, float* %1320, align 4
  %1322 = add i64 %lsr.iv430, %indvars.iv.prol
  %tmp457 = trunc i64 %1322 to i32
  %1323 = sext i32 %tmp457 to i64
  %1324 = getelementptr float, float* %14, i64 %1323
  %1325 = load float, float* %1324, align 4
  %factor212.i.prol = fmul reassoc ninf nsz float %56, %1321
  %1326 = fadd reassoc ninf nsz float %1325, %factor212.i.prol
  store float %1326, float* %1324, align 4
  %indvars.iv.next.prol = add nuw nsw i64 %indvars.iv.prol, 1
  %lsr.iv.next460 = add nsw i64 %lsr.iv459, -1
  %prol.iter136.cmp.not = icmp eq i64 %lsr.iv.next460, 0
  br i1 %prol.iter136.cmp.not, label %for_loop_body50.i.prol.loopexit.loopexit, label %for_loop_body50.i.prol, !llvm.loop !20

for_loop_body50.i.prol.loopexit.loopexit:         ; preds = %for_loop_body50.i.prol
  br label %for_loop_body50.i.prol.loopexit

for_loop_body50.i.prol.loopexit:                  ; preds = %for_loop_body50.i.preheader81.for_loop_body50.i.prol.loopexit_crit_edge, %for_loop_body50.i.prol.loopexit.loopexit
  %indvars.iv.unr = phi i64 [ %indvars.iv.ph, %for_loop_body50.i.preheader81.for_loop_body50.i.prol.loopexit_crit_edge ], [ %indvars.iv.next.prol, %for_loop_body50.i.prol.loopexit.loopexit ]
  %1327 = icmp ult i64 %1315, 7
  br i1 %1327, label %after_for52.i, label %for_loop_body50.i.preheader172

for_loop_body50.i.preheader172:                   ; preds = %for_loop_body50.i.prol.loopexit
  br label %for_loop_body50.i

for_loop_body50.i:                                ; preds = %for_loop_body50.i.preheader172, %for_loop_body50.i
  %lsr.iv477 = phi i64 [ %lsr.iv447, %for_loop_body50.i.preheader172 ], [ %lsr.iv.next478, %for_loop_body50.i ]
  %lsr.iv464 = phi i64 [ %lsr.iv430, %for_loop_body50.i.preheader172 ], [ %lsr.iv.next465, %for_loop_body50.i ]
  %lsr.iv461 = phi i64 [ %lsr.iv424, %for_loop_body50.i.preheader172 ], [ %lsr.iv.next462, %for_loop_body50.i ]
  %1328 = add i64 %indvars.iv.unr, %lsr.iv461
  %tmp482 = trunc i64 %1328 to i32
  %1329 = sext i32 %tmp482 to i64
  %1330 = getelementptr float, float* %10, i64 %1329
  %1331 = load float, float* %1330, align 4
  %1332 = add i64 %indvars.iv.unr, %lsr.iv464
  %tmp481 = trunc i64 %1332 to i32
  %1333 = sext i32 %tmp481 to i64
  %1334 = getelementptr float, float* %14, i64 %1333
  %1335 = load float, float* %1334, align 4
  %factor212.i = fmul reassoc ninf nsz float %56, %1331
  %1336 = fadd reassoc ninf nsz float %1335, %factor212.i
  store float %1336, float* %1334, align 4
  %1337 = add i64 %1328, 1
  %tmp475 = trunc i64 %1337 to i32
  %1338 = sext i32 %tmp475 to i64
  %1339 = getelementptr float, float* %10, i64 %1338
  %1340 = load float, float* %1339, align 4
  %1341 = add i64 %1332, 1
  %tmp476 = trunc i64 %1341 to i32
  %1342 = sext i32 %tmp476 to i64
  %1343 = getelementptr float, float* %14, i64 %1342
  %1344 = load float, float* %1343, align 4
  %factor212.i.1 = fmul reassoc ninf nsz float %56, %1340
  %1345 = fadd reassoc ninf nsz float %1344, %factor212.i.1
  store float %1345, float* %1343, align 4
  %1346 = add i64 %1328, 2
  %tmp473 = trunc i64 %1346 to i32
  %1347 = sext i32 %tmp473 to i64
  %1348 = getelementptr float, float* %10, i64 %1347
  %1349 = load float, float* %1348, align 4
  %1350 = add i64 %1332, 2
  %tmp474 = trunc i64 %1350 to i32
  %1351 = sext i32 %tmp474 to i64
  %1352 = getelementptr float, float* %14, i64 %1351
  %1353 = load float, float* %1352, align 4
  %factor212.i.2 = fmul reassoc ninf nsz float %56, %1349
  %1354 = fadd reassoc ninf nsz float %1353, %factor212.i.2
  store float %1354, float* %1352, align 4
  %1355 = add i64 %1328, 3
  %tmp471 = trunc i64 %1355 to i32
  %1356 = sext i32 %tmp471 to i64
  %1357 = getelementptr float, float* %10, i64 %1356
  %1358 = load float, float* %1357, align 4
  %1359 = add i64 %1332, 3
  %tmp472 = trunc i64 %1359 to i32
  %1360 = sext i32 %tmp472 to i64
  %1361 = getelementptr float, float* %14, i64 %1360
  %1362 = load float, float* %1361, align 4
  %factor212.i.3 = fmul reassoc ninf nsz float %56, %1358
  %1363 = fadd reassoc ninf nsz float %1362, %factor212.i.3
  store float %1363, float* %1361, align 4
  %1364 = add i64 %1328, 4
  %tmp469 = trunc i64 %1364 to i32
  %1365 = sext i32 %tmp469 to i64
  %1366 = getelementptr float, float* %10, i64 %1365
  %1367 = load float, float* %1366, align 4
  %1368 = add i64 %1332, 4
  %tmp470 = trunc i64 %1368 to i32
  %1369 = sext i32 %tmp470 to i64
  %1370 = getelementptr float, float* %14, i64 %1369
  %1371 = load float, float* %1370, align 4
  %factor212.i.4 = fmul reassoc ninf nsz float %56, %1367
  %1372 = fadd reassoc ninf nsz float %1371, %factor212.i.4
  store float %1372, float* %1370, align 4
  %1373 = add i64 %1328, 5
  %tmp467 = trunc i64 %1373 to i32
  %1374 = sext i32 %tmp467 to i64
  %1375 = getelementptr float, float* %10, i64 %1374
  %1376 = load float, float* %1375, align 4
  %1377 = add i64 %1332, 5
  %tmp468 = trunc i64 %1377 to i32
  %1378 = sext i32 %tmp468 to i64
  %1379 = getelementptr float, float* %14, i64 %1378
  %1380 = load float, float* %1379, align 4
  %factor212.i.5 = fmul reassoc ninf nsz float %56, %1376
  %1381 = fadd reassoc ninf nsz float %1380, %factor212.i.5
  store float %1381, float* %1379, align 4
  %1382 = add i64 %1328, 6
  %tmp463 = trunc i64 %1382 to i32
  %1383 = sext i32 %tmp463 to i64
  %1384 = getelementptr float, float* %10, i64 %1383
  %1385 = load float, float* %1384, align 4
  %1386 = add i64 %1332, 6
  %tmp466 = trunc i64 %1386 to i32
  %1387 = sext i32 %tmp466 to i64
  %1388 = getelementptr float, float* %14, i64 %1387
  %1389 = load float, float* %1388, align 4
  %factor212.i.6 = fmul reassoc ninf nsz float %56, %1385
  %1390 = fadd reassoc ninf nsz float %1389, %factor212.i.6
  store float %1390, float* %1388, align 4
  %1391 = add i64 %1328, 7
  %tmp480 = trunc i64 %1391 to i32
  %1392 = sext i32 %tmp480 to i64
  %1393 = getelementptr float, float* %10, i64 %1392
  %1394 = load float, float* %1393, align 4
  %1395 = add i64 %1332, 7
  %tmp479 = trunc i64 %1395 to i32
  %1396 = sext i32 %tmp479 to i64
  %1397 = getelementptr float, float* %14, i64 %1396
  %1398 = load float, float* %1397, align 4
  %factor212.i.7 = fmul reassoc ninf nsz float %56, %1394
  %1399 = fadd reassoc ninf nsz float %1398, %factor212.i.7
  store float %1399, float* %1397, align 4
  %lsr.iv.next462 = add i64 %lsr.iv461, 8
  %lsr.iv.next465 = add i64 %lsr.iv464, 8
  %lsr.iv.next478 = add i64 %lsr.iv477, -8
  %exitcond266.not.i.7 = icmp eq i64 %indvars.iv.unr, %lsr.iv.next478
  br i1 %exitcond266.not.i.7, label %after_for52.i.loopexit, label %for_loop_body50.i, !llvm.loop !21

after_for52.i.loopexit:                           ; preds = %for_loop_body50.i
  br label %after_for52.i

after_for52.i:                                    ; preds = %after_for52.i.loopexit, %for_loop_body50.i.prol.loopexit, %middle.block
  %indvars.iv.next268.i = add nuw nsw i64 %indvars.iv267.i, 1
  %lsr.iv.next406 = add nuw i64 %lsr.iv405, %100
  %lsr.iv.next409 = add nuw i64 %lsr.iv408, %61
  %lsr.iv.next431 = add nuw i64 %lsr.iv430, %102
  %lsr.iv.next425 = add nuw i64 %lsr.iv424, %101
  %exitcond.not = icmp eq i64 %indvars.iv.next268.i, %smax
  br i1 %exitcond.not, label %after_for39.i.loopexit, label %for_loop_body37.i

break_of_a_loop_over_a_field_adjoint_body_1048587_0.exit.loopexit: ; preds = %after_for39.i
  br label %break_of_a_loop_over_a_field_adjoint_body_1048587_0.exit

break_of_a_loop_over_a_field_adjoint_body_1048587_0.exit: ; preds = %break_of_a_loop_over_a_field_adjoint_body_1048587_0.exit.loopexit, %true_block.i
  store float 0.000000e+00, float* %16, align 4
  call void @llvm.lifetime.end.p0i8(i64 512, i8* nonnull %17)
  call void @llvm.lifetime.end.p0i8(i64 128, i8* nonnull %18)
  call void @llvm.lifetime.end.p0i8(i64 128, i8* nonnull %19)
  ret void
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind readnone speculatable willreturn
declare i32 @llvm.smin.i32(i32, i32) #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind readnone speculatable willreturn
declare i32 @llvm.smax.i32(i32, i32) #1

; Function Attrs: argmemonly nocallback nofree nounwind willreturn writeonly
declare void @llvm.memset.p0i8.i64(i8* nocapture writeonly, i8, i64, i1 immarg) #2

; Function Attrs: argmemonly nocallback nofree nosync nounwind willreturn
declare void @llvm.lifetime.start.p0i8(i64 immarg, i8* nocapture) #3

; Function Attrs: argmemonly nocallback nofree nosync nounwind willreturn
declare void @llvm.lifetime.end.p0i8(i64 immarg, i8* nocapture) #3

attributes #0 = { nofree nosync nounwind }
attributes #1 = { mustprogress nocallback nofree nosync nounwind readnone speculatable willreturn }
attributes #2 = { argmemonly nocallback nofree nounwind willreturn writeonly }
attributes #3 = { argmemonly nocallback nofree nosync nounwind willreturn }

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
!12 = distinct !{!12, !9}
!13 = !{!14}
!14 = distinct !{!14, !15}
!15 = distinct !{!15, !"LVerDomain"}
!16 = !{!17}
!17 = distinct !{!17, !15}
!18 = distinct !{!18, !7}
!19 = distinct !{!19, !9}
!20 = distinct !{!20, !9}
!21 = distinct !{!21, !7}
