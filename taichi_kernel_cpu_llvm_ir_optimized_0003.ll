; ModuleID = 'kernel'
source_filename = "kernel"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

%struct.RuntimeContext.21 = type { i8*, %struct.LLVMRuntime.20*, i32, i64* }
%struct.LLVMRuntime.20 = type { %struct.PreallocatedMemoryChunk.15, %struct.PreallocatedMemoryChunk.15, i8* (i8*, i64, i64)*, void (i8*)*, void (i8*, ...)*, i32 (i8*, i64, i8*, %struct.__va_list_tag.16*)*, i8*, [512 x i8*], [512 x i64], i8*, void (i8*, i32, i32, i8*, void (i8*, i32, i32)*)*, [1024 x %struct.ListManager.17*], [1024 x %struct.NodeManager.18*], [1024 x i8*], i8*, %struct.RandState.19*, i8*, void (i8*, i8*)*, void (i8*)*, [2048 x i8], [32 x i64], i32, i64, i8*, i32, i32, i64 }
%struct.PreallocatedMemoryChunk.15 = type { i8*, i8*, i64 }
%struct.__va_list_tag.16 = type { i32, i32, i8*, i8* }
%struct.ListManager.17 = type { [131072 x i8*], i64, i64, i32, i32, i32, %struct.LLVMRuntime.20* }
%struct.NodeManager.18 = type <{ %struct.LLVMRuntime.20*, i32, i32, i32, i32, %struct.ListManager.17*, %struct.ListManager.17*, %struct.ListManager.17*, i32, [4 x i8] }>
%struct.RandState.19 = type { i32, i32, i32, i32, i32 }

; Function Attrs: nofree norecurse nosync nounwind
define void @matrices_in_two_dimensions_adjoint_c3_0_kernel_0_serial(%struct.RuntimeContext.21* nocapture readonly %context) local_unnamed_addr #0 {
entry:
  %0 = bitcast %struct.RuntimeContext.21* %context to { { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* } }**
  %1 = load { { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* } }*, { { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* } }** %0, align 8
  %2 = getelementptr { { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* } }, { { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* } }* %1, i64 0, i32 0, i32 0, i32 0
  %3 = load i32, i32* %2, align 4
  %4 = getelementptr { { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* } }, { { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* } }* %1, i64 0, i32 0, i32 0, i32 1
  %5 = load i32, i32* %4, align 4
  %6 = getelementptr { { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* } }, { { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* } }* %1, i64 0, i32 0, i32 1
  %7 = load float*, float** %6, align 8
  %8 = getelementptr { { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* } }, { { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* } }* %1, i64 0, i32 1, i32 0, i32 1
  %9 = load i32, i32* %8, align 4
  %10 = getelementptr { { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* } }, { { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* } }* %1, i64 0, i32 1, i32 1
  %11 = load float*, float** %10, align 8
  %12 = getelementptr { { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* } }, { { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* } }* %1, i64 0, i32 2, i32 0, i32 1
  %13 = load i32, i32* %12, align 4
  %14 = getelementptr { { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* } }, { { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* } }* %1, i64 0, i32 2, i32 1
  %15 = load float*, float** %14, align 8
  %16 = getelementptr { { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* } }, { { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* } }* %1, i64 0, i32 3, i32 0, i32 1
  %17 = load i32, i32* %16, align 4
  %18 = getelementptr { { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* } }, { { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* } }* %1, i64 0, i32 3, i32 1
  %19 = load float*, float** %18, align 8
  %20 = icmp sgt i32 %3, 0
  %21 = icmp sgt i32 %5, 0
  %or.cond = select i1 %20, i1 %21, i1 false
  br i1 %or.cond, label %for_loop_body.i.us.preheader, label %matrices_in_two_dimensions_adjoint_body_1048579_0.exit

for_loop_body.i.us.preheader:                     ; preds = %entry
  %22 = zext i32 %5 to i64
  %23 = add nsw i64 %22, -1
  %xtraiter = and i64 %22, 3
  %24 = icmp ult i64 %23, 3
  %unroll_iter = and i64 %22, 4294967292
  %lcmp.mod.not = icmp eq i64 %xtraiter, 0
  %25 = shl i32 %13, 2
  %26 = shl i32 %5, 2
  %27 = shl i32 %17, 1
  %28 = shl i32 %9, 1
  %29 = shl nuw nsw i64 %xtraiter, 2
  br label %for_loop_body.i.us

for_loop_body.i.us:                               ; preds = %for_loop_body.i.us.preheader, %after_for3.i.loopexit.us
  %lsr.iv21 = phi i32 [ 0, %for_loop_body.i.us.preheader ], [ %lsr.iv.next22, %after_for3.i.loopexit.us ]
  %lsr.iv17 = phi i32 [ 0, %for_loop_body.i.us.preheader ], [ %lsr.iv.next18, %after_for3.i.loopexit.us ]
  %lsr.iv15 = phi i32 [ 0, %for_loop_body.i.us.preheader ], [ %lsr.iv.next16, %after_for3.i.loopexit.us ]
  %lsr.iv11 = phi i32 [ 0, %for_loop_body.i.us.preheader ], [ %lsr.iv.next12, %after_for3.i.loopexit.us ]
  %lsr.iv9 = phi i32 [ 0, %for_loop_body.i.us.preheader ], [ %lsr.iv.next10, %after_for3.i.loopexit.us ]
  %lsr.iv = phi i32 [ 0, %for_loop_body.i.us.preheader ], [ %lsr.iv.next, %after_for3.i.loopexit.us ]
  %.066.i.us = phi i32 [ %381, %after_for3.i.loopexit.us ], [ 0, %for_loop_body.i.us.preheader ]
  br i1 %24, label %after_for3.i.loopexit.us.unr-lcssa, label %for_loop_body1.i.us.preheader

for_loop_body1.i.us.preheader:                    ; preds = %for_loop_body.i.us
  br label %for_loop_body1.i.us

for_loop_body1.i.us:                              ; preds = %for_loop_body1.i.us.preheader, %for_loop_body1.i.us
  %lsr.iv13 = phi i32 [ 0, %for_loop_body1.i.us.preheader ], [ %lsr.iv.next14, %for_loop_body1.i.us ]
  %lsr.iv7 = phi i32 [ 0, %for_loop_body1.i.us.preheader ], [ %lsr.iv.next8, %for_loop_body1.i.us ]
  %indvars.iv = phi i64 [ %indvars.iv.next.3, %for_loop_body1.i.us ], [ 0, %for_loop_body1.i.us.preheader ]
  %30 = add i32 %lsr.iv, %lsr.iv7
  %31 = sext i32 %30 to i64
  %32 = getelementptr float, float* %15, i64 %31
  %33 = load float, float* %32, align 4
  %34 = add i32 %30, 1
  %35 = sext i32 %34 to i64
  %36 = getelementptr float, float* %15, i64 %35
  %37 = load float, float* %36, align 4
  %38 = add i32 %30, 2
  %39 = sext i32 %38 to i64
  %40 = getelementptr float, float* %15, i64 %39
  %41 = load float, float* %40, align 4
  %42 = add i32 %30, 3
  %43 = sext i32 %42 to i64
  %44 = getelementptr float, float* %15, i64 %43
  %45 = load float, float* %44, align 4
  %46 = add i32 %lsr.iv9, %lsr.iv7
  %47 = sext i32 %46 to i64
  %48 = getelementptr float, float* %7, i64 %47
  %49 = load float, float* %48, align 4
  %50 = add i32 %46, 1
  %51 = sext i32 %50 to i64
  %52 = getelementptr float, float* %7, i64 %51
  %53 = load float, float* %52, align 4
  %54 = add i32 %46, 2
  %55 = sext i32 %54 to i64
  %56 = getelementptr float, float* %7, i64 %55
  %57 = load float, float* %56, align 4
  %58 = add i32 %46, 3
  %59 = sext i32 %58 to i64
  %60 = getelementptr float, float* %7, i64 %59
  %61 = load float, float* %60, align 4
  %62 = add i32 %lsr.iv11, %lsr.iv13
  %63 = sext i32 %62 to i64
  %64 = getelementptr float, float* %19, i64 %63
  %65 = load float, float* %64, align 4
  %66 = add i32 %62, 1
  %67 = sext i32 %66 to i64
  %68 = getelementptr float, float* %19, i64 %67
  %69 = load float, float* %68, align 4
  %70 = fmul reassoc ninf nsz float %65, %49
  %71 = fmul reassoc ninf nsz float %69, %57
  %72 = fadd reassoc ninf nsz float %71, %70
  %73 = fmul reassoc ninf nsz float %65, %53
  %74 = fmul reassoc ninf nsz float %69, %61
  %75 = fadd reassoc ninf nsz float %74, %73
  store float %72, float* %64, align 4
  store float %75, float* %68, align 4
  %76 = add i32 %lsr.iv15, %lsr.iv13
  %77 = sext i32 %76 to i64
  %78 = getelementptr float, float* %11, i64 %77
  %79 = load float, float* %78, align 4
  %80 = add i32 %76, 1
  %81 = sext i32 %80 to i64
  %82 = getelementptr float, float* %11, i64 %81
  %83 = load float, float* %82, align 4
  %84 = fmul reassoc ninf nsz float %53, %37
  %85 = fmul reassoc ninf nsz float %57, %41
  %86 = fmul reassoc ninf nsz float %79, %65
  %87 = fmul reassoc ninf nsz float %83, %65
  %88 = fmul reassoc ninf nsz float %79, %69
  %89 = fmul reassoc ninf nsz float %83, %69
  %90 = fmul reassoc ninf nsz float %33, 2.000000e+00
  %factor.i.us = fmul reassoc ninf nsz float %90, %49
  %91 = fadd reassoc ninf nsz float %85, %84
  %92 = fadd reassoc ninf nsz float %91, %factor.i.us
  %93 = fadd reassoc ninf nsz float %92, %86
  %reass.add.i.us = fadd reassoc ninf nsz float %45, %33
  %reass.mul.i.us = fmul reassoc ninf nsz float %57, %reass.add.i.us
  %reass.add58.i.us = fadd reassoc ninf nsz float %61, %49
  %reass.mul59.i.us = fmul reassoc ninf nsz float %reass.add58.i.us, %37
  %94 = fadd reassoc ninf nsz float %reass.mul59.i.us, %reass.mul.i.us
  %95 = fadd reassoc ninf nsz float %94, %87
  %reass.mul61.i.us = fmul reassoc ninf nsz float %53, %reass.add.i.us
  %reass.mul63.i.us = fmul reassoc ninf nsz float %reass.add58.i.us, %41
  %96 = fadd reassoc ninf nsz float %reass.mul63.i.us, %reass.mul61.i.us
  %97 = fadd reassoc ninf nsz float %96, %88
  %98 = fmul reassoc ninf nsz float %45, 2.000000e+00
  %factor64.i.us = fmul reassoc ninf nsz float %98, %61
  %99 = fadd reassoc ninf nsz float %91, %factor64.i.us
  %100 = fadd reassoc ninf nsz float %99, %89
  store float %93, float* %32, align 4
  store float %95, float* %36, align 4
  store float %97, float* %40, align 4
  store float %100, float* %44, align 4
  %101 = add i32 %30, 4
  %102 = sext i32 %101 to i64
  %103 = getelementptr float, float* %15, i64 %102
  %104 = load float, float* %103, align 4
  %105 = add i32 %30, 5
  %106 = sext i32 %105 to i64
  %107 = getelementptr float, float* %15, i64 %106
  %108 = load float, float* %107, align 4
  %109 = add i32 %30, 6
  %110 = sext i32 %109 to i64
  %111 = getelementptr float, float* %15, i64 %110
  %112 = load float, float* %111, align 4
  %113 = add i32 %30, 7
  %114 = sext i32 %113 to i64
  %115 = getelementptr float, float* %15, i64 %114
  %116 = load float, float* %115, align 4
  %117 = add i32 %46, 4
  %118 = sext i32 %117 to i64
  %119 = getelementptr float, float* %7, i64 %118
  %120 = load float, float* %119, align 4
  %121 = add i32 %46, 5
  %122 = sext i32 %121 to i64
  %123 = getelementptr float, float* %7, i64 %122
  %124 = load float, float* %123, align 4
  %125 = add i32 %46, 6
  %126 = sext i32 %125 to i64
  %127 = getelementptr float, float* %7, i64 %126
  %128 = load float, float* %127, align 4
  %129 = add i32 %46, 7
  %130 = sext i32 %129 to i64
  %131 = getelementptr float, float* %7, i64 %130
  %132 = load float, float* %131, align 4
  %133 = add i32 %62, 2
  %134 = sext i32 %133 to i64
  %135 = getelementptr float, float* %19, i64 %134
  %136 = load float, float* %135, align 4
  %137 = add i32 %62, 3
  %138 = sext i32 %137 to i64
  %139 = getelementptr float, float* %19, i64 %138
  %140 = load float, float* %139, align 4
  %141 = fmul reassoc ninf nsz float %136, %120
  %142 = fmul reassoc ninf nsz float %140, %128
  %143 = fadd reassoc ninf nsz float %142, %141
  %144 = fmul reassoc ninf nsz float %136, %124
  %145 = fmul reassoc ninf nsz float %140, %132
  %146 = fadd reassoc ninf nsz float %145, %144
  store float %143, float* %135, align 4
  store float %146, float* %139, align 4
  %147 = add i32 %76, 2
  %148 = sext i32 %147 to i64
  %149 = getelementptr float, float* %11, i64 %148
  %150 = load float, float* %149, align 4
  %151 = add i32 %76, 3
  %152 = sext i32 %151 to i64
  %153 = getelementptr float, float* %11, i64 %152
  %154 = load float, float* %153, align 4
  %155 = fmul reassoc ninf nsz float %124, %108
  %156 = fmul reassoc ninf nsz float %128, %112
  %157 = fmul reassoc ninf nsz float %150, %136
  %158 = fmul reassoc ninf nsz float %154, %136
  %159 = fmul reassoc ninf nsz float %150, %140
  %160 = fmul reassoc ninf nsz float %154, %140
  %161 = fmul reassoc ninf nsz float %104, 2.000000e+00
  %factor.i.us.1 = fmul reassoc ninf nsz float %161, %120
  %162 = fadd reassoc ninf nsz float %156, %155
  %163 = fadd reassoc ninf nsz float %162, %factor.i.us.1
  %164 = fadd reassoc ninf nsz float %163, %157
  %reass.add.i.us.1 = fadd reassoc ninf nsz float %116, %104
  %reass.mul.i.us.1 = fmul reassoc ninf nsz float %128, %reass.add.i.us.1
  %reass.add58.i.us.1 = fadd reassoc ninf nsz float %132, %120
  %reass.mul59.i.us.1 = fmul reassoc ninf nsz float %reass.add58.i.us.1, %108
  %165 = fadd reassoc ninf nsz float %reass.mul59.i.us.1, %reass.mul.i.us.1
  %166 = fadd reassoc ninf nsz float %165, %158
  %reass.mul61.i.us.1 = fmul reassoc ninf nsz float %124, %reass.add.i.us.1
  %reass.mul63.i.us.1 = fmul reassoc ninf nsz float %reass.add58.i.us.1, %112
  %167 = fadd reassoc ninf nsz float %reass.mul63.i.us.1, %reass.mul61.i.us.1
  %168 = fadd reassoc ninf nsz float %167, %159
  %169 = fmul reassoc ninf nsz float %116, 2.000000e+00
  %factor64.i.us.1 = fmul reassoc ninf nsz float %169, %132
  %170 = fadd reassoc ninf nsz float %162, %factor64.i.us.1
  %171 = fadd reassoc ninf nsz float %170, %160
  store float %164, float* %103, align 4
  store float %166, float* %107, align 4
  store float %168, float* %111, align 4
  store float %171, float* %115, align 4
  %172 = add i32 %30, 8
  %173 = sext i32 %172 to i64
  %174 = getelementptr float, float* %15, i64 %173
  %175 = load float, float* %174, align 4
  %176 = add i32 %30, 9
  %177 = sext i32 %176 to i64
  %178 = getelementptr float, float* %15, i64 %177
  %179 = load float, float* %178, align 4
  %180 = add i32 %30, 10
  %181 = sext i32 %180 to i64
  %182 = getelementptr float, float* %15, i64 %181
  %183 = load float, float* %182, align 4
  %184 = add i32 %30, 11
  %185 = sext i32 %184 to i64
  %186 = getelementptr float, float* %15, i64 %185
  %187 = load float, float* %186, align 4
  %188 = add i32 %46, 8
  %189 = sext i32 %188 to i64
  %190 = getelementptr float, float* %7, i64 %189
  %191 = load float, float* %190, align 4
  %192 = add i32 %46, 9
  %193 = sext i32 %192 to i64
  %194 = getelementptr float, float* %7, i64 %193
  %195 = load float, float* %194, align 4
  %196 = add i32 %46, 10
  %197 = sext i32 %196 to i64
  %198 = getelementptr float, float* %7, i64 %197
  %199 = load float, float* %198, align 4
  %200 = add i32 %46, 11
  %201 = sext i32 %200 to i64
  %202 = getelementptr float, float* %7, i64 %201
  %203 = load float, float* %202, align 4
  %204 = add i32 %62, 4
  %205 = sext i32 %204 to i64
  %206 = getelementptr float, float* %19, i64 %205
  %207 = load float, float* %206, align 4
  %208 = add i32 %62, 5
  %209 = sext i32 %208 to i64
  %210 = getelementptr float, float* %19, i64 %209
  %211 = load float, float* %210, align 4
  %212 = fmul reassoc ninf nsz float %207, %191
  %213 = fmul reassoc ninf nsz float %211, %199
  %214 = fadd reassoc ninf nsz float %213, %212
  %215 = fmul reassoc ninf nsz float %207, %195
  %216 = fmul reassoc ninf nsz float %211, %203
  %217 = fadd reassoc ninf nsz float %216, %215
  store float %214, float* %206, align 4
  store float %217, float* %210, align 4
  %218 = add i32 %76, 4
  %219 = sext i32 %218 to i64
  %220 = getelementptr float, float* %11, i64 %219
  %221 = load float, float* %220, align 4
  %222 = add i32 %76, 5
  %223 = sext i32 %222 to i64
  %224 = getelementptr float, float* %11, i64 %223
  %225 = load float, float* %224, align 4
  %226 = fmul reassoc ninf nsz float %195, %179
  %227 = fmul reassoc ninf nsz float %199, %183
  %228 = fmul reassoc ninf nsz float %221, %207
  %229 = fmul reassoc ninf nsz float %225, %207
  %230 = fmul reassoc ninf nsz float %221, %211
  %231 = fmul reassoc ninf nsz float %225, %211
  %232 = fmul reassoc ninf nsz float %175, 2.000000e+00
  %factor.i.us.2 = fmul reassoc ninf nsz float %232, %191
  %233 = fadd reassoc ninf nsz float %227, %226
  %234 = fadd reassoc ninf nsz float %233, %factor.i.us.2
  %235 = fadd reassoc ninf nsz float %234, %228
  %reass.add.i.us.2 = fadd reassoc ninf nsz float %187, %175
  %reass.mul.i.us.2 = fmul reassoc ninf nsz float %199, %reass.add.i.us.2
  %reass.add58.i.us.2 = fadd reassoc ninf nsz float %203, %191
  %reass.mul59.i.us.2 = fmul reassoc ninf nsz float %reass.add58.i.us.2, %179
  %236 = fadd reassoc ninf nsz float %reass.mul59.i.us.2, %reass.mul.i.us.2
  %237 = fadd reassoc ninf nsz float %236, %229
  %reass.mul61.i.us.2 = fmul reassoc ninf nsz float %195, %reass.add.i.us.2
  %reass.mul63.i.us.2 = fmul reassoc ninf nsz float %reass.add58.i.us.2, %183
  %238 = fadd reassoc ninf nsz float %reass.mul63.i.us.2, %reass.mul61.i.us.2
  %239 = fadd reassoc ninf nsz float %238, %230
  %240 = fmul reassoc ninf nsz float %187, 2.000000e+00
  %factor64.i.us.2 = fmul reassoc ninf nsz float %240, %203
  %241 = fadd reassoc ninf nsz float %233, %factor64.i.us.2
  %242 = fadd reassoc ninf nsz float %241, %231
  store float %235, float* %174, align 4
  store float %237, float* %178, align 4
  store float %239, float* %182, align 4
  store float %242, float* %186, align 4
  %243 = add i32 %30, 12
  %244 = sext i32 %243 to i64
  %245 = getelementptr float, float* %15, i64 %244
  %246 = load float, float* %245, align 4
  %247 = add i32 %30, 13
  %248 = sext i32 %247 to i64
  %249 = getelementptr float, float* %15, i64 %248
  %250 = load float, float* %249, align 4
  %251 = add i32 %30, 14
  %252 = sext i32 %251 to i64
  %253 = getelementptr float, float* %15, i64 %252
  %254 = load float, float* %253, align 4
  %255 = add i32 %30, 15
  %256 = sext i32 %255 to i64
  %257 = getelementptr float, float* %15, i64 %256
  %258 = load float, float* %257, align 4
  %259 = add i32 %46, 12
  %260 = sext i32 %259 to i64
  %261 = getelementptr float, float* %7, i64 %260
  %262 = load float, float* %261, align 4
  %263 = add i32 %46, 13
  %264 = sext i32 %263 to i64
  %265 = getelementptr float, float* %7, i64 %264
  %266 = load float, float* %265, align 4
  %267 = add i32 %46, 14
  %268 = sext i32 %267 to i64
  %269 = getelementptr float, float* %7, i64 %268
  %270 = load float, float* %269, align 4
  %271 = add i32 %46, 15
  %272 = sext i32 %271 to i64
  %273 = getelementptr float, float* %7, i64 %272
  %274 = load float, float* %273, align 4
  %275 = add i32 %62, 6
  %276 = sext i32 %275 to i64
  %277 = getelementptr float, float* %19, i64 %276
  %278 = load float, float* %277, align 4
  %279 = add i32 %62, 7
  %280 = sext i32 %279 to i64
  %281 = getelementptr float, float* %19, i64 %280
  %282 = load float, float* %281, align 4
  %283 = fmul reassoc ninf nsz float %278, %262
  %284 = fmul reassoc ninf nsz float %282, %270
  %285 = fadd reassoc ninf nsz float %284, %283
  %286 = fmul reassoc ninf nsz float %278, %266
  %287 = fmul reassoc ninf nsz float %282, %274
  %288 = fadd reassoc ninf nsz float %287, %286
  store float %285, float* %277, align 4
  store float %288, float* %281, align 4
  %289 = add i32 %76, 6
  %290 = sext i32 %289 to i64
  %291 = getelementptr float, float* %11, i64 %290
  %292 = load float, float* %291, align 4
  %293 = add i32 %76, 7
  %294 = sext i32 %293 to i64
  %295 = getelementptr float, float* %11, i64 %294
  %296 = load float, float* %295, align 4
  %297 = fmul reassoc ninf nsz float %266, %250
  %298 = fmul reassoc ninf nsz float %270, %254
  %299 = fmul reassoc ninf nsz float %292, %278
  %300 = fmul reassoc ninf nsz float %296, %278
  %301 = fmul reassoc ninf nsz float %292, %282
  %302 = fmul reassoc ninf nsz float %296, %282
  %303 = fmul reassoc ninf nsz float %246, 2.000000e+00
  %factor.i.us.3 = fmul reassoc ninf nsz float %303, %262
  %304 = fadd reassoc ninf nsz float %298, %297
  %305 = fadd reassoc ninf nsz float %304, %factor.i.us.3
  %306 = fadd reassoc ninf nsz float %305, %299
  %reass.add.i.us.3 = fadd reassoc ninf nsz float %258, %246
  %reass.mul.i.us.3 = fmul reassoc ninf nsz float %270, %reass.add.i.us.3
  %reass.add58.i.us.3 = fadd reassoc ninf nsz float %274, %262
  %reass.mul59.i.us.3 = fmul reassoc ninf nsz float %reass.add58.i.us.3, %250
  %307 = fadd reassoc ninf nsz float %reass.mul59.i.us.3, %reass.mul.i.us.3
  %308 = fadd reassoc ninf nsz float %307, %300
  %reass.mul61.i.us.3 = fmul reassoc ninf nsz float %266, %reass.add.i.us.3
  %reass.mul63.i.us.3 = fmul reassoc ninf nsz float %reass.add58.i.us.3, %254
  %309 = fadd reassoc ninf nsz float %reass.mul63.i.us.3, %reass.mul61.i.us.3
  %310 = fadd reassoc ninf nsz float %309, %301
  %311 = fmul reassoc ninf nsz float %258, 2.000000e+00
  %factor64.i.us.3 = fmul reassoc ninf nsz float %311, %274
  %312 = fadd reassoc ninf nsz float %304, %factor64.i.us.3
  %313 = fadd reassoc ninf nsz float %312, %302
  store float %306, float* %245, align 4
  store float %308, float* %249, align 4
  store float %310, float* %253, align 4
  store float %313, float* %257, align 4
  %indvars.iv.next.3 = add nuw i64 %indvars.iv, 4
  %lsr.iv.next8 = add i32 %lsr.iv7, 16
  %lsr.iv.next14 = add i32 %lsr.iv13, 8
  %niter.ncmp.3 = icmp eq i64 %unroll_iter, %indvars.iv.next.3
  br i1 %niter.ncmp.3, label %after_for3.i.loopexit.us.unr-lcssa.loopexit, label %for_loop_body1.i.us

after_for3.i.loopexit.us.unr-lcssa.loopexit:      ; preds = %for_loop_body1.i.us
  br label %after_for3.i.loopexit.us.unr-lcssa

after_for3.i.loopexit.us.unr-lcssa:               ; preds = %after_for3.i.loopexit.us.unr-lcssa.loopexit, %for_loop_body.i.us
  %indvars.iv.unr = phi i64 [ 0, %for_loop_body.i.us ], [ %indvars.iv.next.3, %after_for3.i.loopexit.us.unr-lcssa.loopexit ]
  br i1 %lcmp.mod.not, label %after_for3.i.loopexit.us, label %for_loop_body1.i.us.epil.preheader

for_loop_body1.i.us.epil.preheader:               ; preds = %after_for3.i.loopexit.us.unr-lcssa
  %314 = trunc i64 %indvars.iv.unr to i32
  %315 = add i32 %lsr.iv17, %314
  %316 = shl i32 %315, 1
  %317 = add i32 %lsr.iv21, %314
  %318 = shl i32 %317, 1
  %319 = shl i32 %314, 2
  %320 = add i32 %lsr.iv9, %319
  %321 = zext i32 %320 to i64
  %322 = add i32 %lsr.iv, %319
  %323 = zext i32 %322 to i64
  br label %for_loop_body1.i.us.epil

for_loop_body1.i.us.epil:                         ; preds = %for_loop_body1.i.us.epil.preheader, %for_loop_body1.i.us.epil
  %lsr.iv25 = phi i64 [ 0, %for_loop_body1.i.us.epil.preheader ], [ %lsr.iv.next26, %for_loop_body1.i.us.epil ]
  %lsr.iv23 = phi i32 [ %318, %for_loop_body1.i.us.epil.preheader ], [ %lsr.iv.next24, %for_loop_body1.i.us.epil ]
  %lsr.iv19 = phi i32 [ %316, %for_loop_body1.i.us.epil.preheader ], [ %lsr.iv.next20, %for_loop_body1.i.us.epil ]
  %324 = add nuw nsw i64 %323, %lsr.iv25
  %tmp33 = trunc i64 %324 to i32
  %325 = sext i32 %tmp33 to i64
  %326 = getelementptr float, float* %15, i64 %325
  %327 = load float, float* %326, align 4
  %328 = getelementptr float, float* %326, i64 1
  %329 = load float, float* %328, align 4
  %330 = getelementptr float, float* %326, i64 2
  %331 = load float, float* %330, align 4
  %332 = getelementptr float, float* %326, i64 3
  %333 = load float, float* %332, align 4
  %334 = add nuw nsw i64 %321, %lsr.iv25
  %tmp29 = trunc i64 %334 to i32
  %335 = sext i32 %tmp29 to i64
  %336 = getelementptr float, float* %7, i64 %335
  %337 = load float, float* %336, align 4
  %338 = getelementptr float, float* %336, i64 1
  %339 = load float, float* %338, align 4
  %340 = getelementptr float, float* %336, i64 2
  %341 = load float, float* %340, align 4
  %342 = getelementptr float, float* %336, i64 3
  %343 = load float, float* %342, align 4
  %344 = sext i32 %lsr.iv23 to i64
  %345 = getelementptr float, float* %19, i64 %344
  %346 = load float, float* %345, align 4
  %347 = add i32 %lsr.iv23, 1
  %348 = sext i32 %347 to i64
  %349 = getelementptr float, float* %19, i64 %348
  %350 = load float, float* %349, align 4
  %351 = fmul reassoc ninf nsz float %346, %337
  %352 = fmul reassoc ninf nsz float %350, %341
  %353 = fadd reassoc ninf nsz float %352, %351
  %354 = fmul reassoc ninf nsz float %346, %339
  %355 = fmul reassoc ninf nsz float %350, %343
  %356 = fadd reassoc ninf nsz float %355, %354
  store float %353, float* %345, align 4
  store float %356, float* %349, align 4
  %357 = sext i32 %lsr.iv19 to i64
  %358 = getelementptr float, float* %11, i64 %357
  %359 = load float, float* %358, align 4
  %360 = add i32 %lsr.iv19, 1
  %361 = sext i32 %360 to i64
  %362 = getelementptr float, float* %11, i64 %361
  %363 = load float, float* %362, align 4
  %364 = fmul reassoc ninf nsz float %339, %329
  %365 = fmul reassoc ninf nsz float %341, %331
  %366 = fmul reassoc ninf nsz float %359, %346
  %367 = fmul reassoc ninf nsz float %363, %346
  %368 = fmul reassoc ninf nsz float %359, %350
  %369 = fmul reassoc ninf nsz float %363, %350
  %370 = fmul reassoc ninf nsz float %327, 2.000000e+00
  %factor.i.us.epil = fmul reassoc ninf nsz float %370, %337
  %371 = fadd reassoc ninf nsz float %365, %364
  %372 = fadd reassoc ninf nsz float %371, %factor.i.us.epil
  %373 = fadd reassoc ninf nsz float %372, %366
  %reass.add.i.us.epil = fadd reassoc ninf nsz float %333, %327
  %reass.mul.i.us.epil = fmul reassoc ninf nsz float %341, %reass.add.i.us.epil
  %reass.add58.i.us.epil = fadd reassoc ninf nsz float %343, %337
  %reass.mul59.i.us.epil = fmul reassoc ninf nsz float %reass.add58.i.us.epil, %329
  %374 = fadd reassoc ninf nsz float %reass.mul59.i.us.epil, %reass.mul.i.us.epil
  %375 = fadd reassoc ninf nsz float %374, %367
  %reass.mul61.i.us.epil = fmul reassoc ninf nsz float %339, %reass.add.i.us.epil
  %reass.mul63.i.us.epil = fmul reassoc ninf nsz float %reass.add58.i.us.epil, %331
  %376 = fadd reassoc ninf nsz float %reass.mul63.i.us.epil, %reass.mul61.i.us.epil
  %377 = fadd reassoc ninf nsz float %376, %368
  %378 = fmul reassoc ninf nsz float %333, 2.000000e+00
  %factor64.i.us.epil = fmul reassoc ninf nsz float %378, %343
  %379 = fadd reassoc ninf nsz float %371, %factor64.i.us.epil
  %380 = fadd reassoc ninf nsz float %379, %369
  store float %373, float* %326, align 4
  store float %375, float* %328, align 4
  store float %377, float* %330, align 4
  store float %380, float* %332, align 4
  %lsr.iv.next20 = add i32 %lsr.iv19, 2
  %lsr.iv.next24 = add i32 %lsr.iv23, 2
  %lsr.iv.next26 = add nuw nsw i64 %lsr.iv25, 4
  %epil.iter.cmp.not = icmp eq i64 %29, %lsr.iv.next26
  br i1 %epil.iter.cmp.not, label %after_for3.i.loopexit.us.loopexit, label %for_loop_body1.i.us.epil, !llvm.loop !6

after_for3.i.loopexit.us.loopexit:                ; preds = %for_loop_body1.i.us.epil
  br label %after_for3.i.loopexit.us

after_for3.i.loopexit.us:                         ; preds = %after_for3.i.loopexit.us.loopexit, %after_for3.i.loopexit.us.unr-lcssa
  %381 = add nuw nsw i32 %.066.i.us, 1
  %lsr.iv.next = add i32 %lsr.iv, %25
  %lsr.iv.next10 = add i32 %lsr.iv9, %26
  %lsr.iv.next12 = add i32 %lsr.iv11, %27
  %lsr.iv.next16 = add i32 %lsr.iv15, %28
  %lsr.iv.next18 = add i32 %lsr.iv17, %9
  %lsr.iv.next22 = add i32 %lsr.iv21, %17
  %exitcond68.not.i.us = icmp eq i32 %381, %3
  br i1 %exitcond68.not.i.us, label %matrices_in_two_dimensions_adjoint_body_1048579_0.exit.loopexit, label %for_loop_body.i.us

matrices_in_two_dimensions_adjoint_body_1048579_0.exit.loopexit: ; preds = %after_for3.i.loopexit.us
  br label %matrices_in_two_dimensions_adjoint_body_1048579_0.exit

matrices_in_two_dimensions_adjoint_body_1048579_0.exit: ; preds = %matrices_in_two_dimensions_adjoint_body_1048579_0.exit.loopexit, %entry
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
!7 = !{!"llvm.loop.unroll.disable"}
