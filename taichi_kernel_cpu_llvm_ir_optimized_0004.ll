; ModuleID = 'kernel'
source_filename = "kernel"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

%struct.RuntimeContext.28 = type { i8*, %struct.LLVMRuntime.27*, i32, i64* }
%struct.LLVMRuntime.27 = type { %struct.PreallocatedMemoryChunk.22, %struct.PreallocatedMemoryChunk.22, i8* (i8*, i64, i64)*, void (i8*)*, void (i8*, ...)*, i32 (i8*, i64, i8*, %struct.__va_list_tag.23*)*, i8*, [512 x i8*], [512 x i64], i8*, void (i8*, i32, i32, i8*, void (i8*, i32, i32)*)*, [1024 x %struct.ListManager.24*], [1024 x %struct.NodeManager.25*], [1024 x i8*], i8*, %struct.RandState.26*, i8*, void (i8*, i8*)*, void (i8*)*, [2048 x i8], [32 x i64], i32, i64, i8*, i32, i32, i64 }
%struct.PreallocatedMemoryChunk.22 = type { i8*, i8*, i64 }
%struct.__va_list_tag.23 = type { i32, i32, i8*, i8* }
%struct.ListManager.24 = type { [131072 x i8*], i64, i64, i32, i32, i32, %struct.LLVMRuntime.27* }
%struct.NodeManager.25 = type <{ %struct.LLVMRuntime.27*, i32, i32, i32, i32, %struct.ListManager.24*, %struct.ListManager.24*, %struct.ListManager.24*, i32, [4 x i8] }>
%struct.RandState.26 = type { i32, i32, i32, i32, i32 }

; Function Attrs: nofree norecurse nosync nounwind
define void @particles_to_grid_c4_0_kernel_0_serial(%struct.RuntimeContext.28* nocapture readonly %context) local_unnamed_addr #0 {
entry:
  %0 = bitcast %struct.RuntimeContext.28* %context to { { { i32 }, float* }, { { i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* } }**
  %1 = load { { { i32 }, float* }, { { i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* } }*, { { { i32 }, float* }, { { i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* } }** %0, align 8
  %2 = getelementptr { { { i32 }, float* }, { { i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* } }, { { { i32 }, float* }, { { i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* } }* %1, i64 0, i32 0, i32 0, i32 0
  %3 = load i32, i32* %2, align 4
  %4 = getelementptr { { { i32 }, float* }, { { i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* } }, { { { i32 }, float* }, { { i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* } }* %1, i64 0, i32 0, i32 1
  %5 = load float*, float** %4, align 8
  %6 = getelementptr { { { i32 }, float* }, { { i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* } }, { { { i32 }, float* }, { { i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* } }* %1, i64 0, i32 1, i32 1
  %7 = load float*, float** %6, align 8
  %8 = getelementptr { { { i32 }, float* }, { { i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* } }, { { { i32 }, float* }, { { i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* } }* %1, i64 0, i32 2, i32 0, i32 1
  %9 = load i32, i32* %8, align 4
  %10 = getelementptr { { { i32 }, float* }, { { i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* } }, { { { i32 }, float* }, { { i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* } }* %1, i64 0, i32 2, i32 1
  %11 = load float*, float** %10, align 8
  %12 = getelementptr { { { i32 }, float* }, { { i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* } }, { { { i32 }, float* }, { { i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* } }* %1, i64 0, i32 3, i32 0, i32 1
  %13 = load i32, i32* %12, align 4
  %14 = getelementptr { { { i32 }, float* }, { { i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* } }, { { { i32 }, float* }, { { i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* } }* %1, i64 0, i32 3, i32 1
  %15 = load float*, float** %14, align 8
  %16 = icmp sgt i32 %3, 0
  br i1 %16, label %for_loop_body.preheader.i, label %particles_to_grid_body_1048580_0.exit

for_loop_body.preheader.i:                        ; preds = %entry
  %wide.trip.count.i = zext i32 %3 to i64
  %17 = add nsw i64 %wide.trip.count.i, -1
  %xtraiter = and i64 %wide.trip.count.i, 3
  %18 = icmp ult i64 %17, 3
  br i1 %18, label %particles_to_grid_body_1048580_0.exit.loopexit.unr-lcssa, label %for_loop_body.preheader.i.new

for_loop_body.preheader.i.new:                    ; preds = %for_loop_body.preheader.i
  %unroll_iter = and i64 %wide.trip.count.i, 4294967292
  %scevgep26 = getelementptr float, float* %7, i64 3
  br label %for_loop_body.i

for_loop_body.i:                                  ; preds = %for_loop_body.i, %for_loop_body.preheader.i.new
  %lsr.iv24 = phi i64 [ %lsr.iv.next25, %for_loop_body.i ], [ 0, %for_loop_body.preheader.i.new ]
  %indvars.iv.i = phi i64 [ 0, %for_loop_body.preheader.i.new ], [ %indvars.iv.next.i.3, %for_loop_body.i ]
  %19 = ashr exact i64 %lsr.iv24, 32
  %20 = getelementptr float, float* %5, i64 %19
  %scevgep32 = getelementptr float, float* %scevgep26, i64 %indvars.iv.i
  %scevgep33 = getelementptr float, float* %scevgep32, i64 -3
  %21 = load float, float* %scevgep33, align 4
  %22 = fmul reassoc ninf nsz float %21, 5.000000e-01
  %23 = bitcast float* %20 to <2 x float>*
  %24 = load <2 x float>, <2 x float>* %23, align 4
  %25 = fadd reassoc ninf nsz <2 x float> %24, <float -5.000000e-01, float -5.000000e-01>
  %26 = fptosi <2 x float> %25 to <2 x i32>
  %27 = sitofp <2 x i32> %26 to <2 x float>
  %28 = fsub reassoc ninf nsz <2 x float> %24, %27
  %29 = fsub reassoc ninf nsz <2 x float> <float 1.500000e+00, float 1.500000e+00>, %28
  %30 = extractelement <2 x float> %28, i64 0
  %31 = fadd reassoc ninf nsz float %30, -1.000000e+00
  %32 = extractelement <2 x float> %28, i64 1
  %33 = fadd reassoc ninf nsz float %32, -1.000000e+00
  %34 = fmul reassoc ninf nsz float %31, %31
  %35 = fmul reassoc ninf nsz float %33, %33
  %36 = fsub reassoc ninf nsz float 7.500000e-01, %34
  %37 = fsub reassoc ninf nsz float 7.500000e-01, %35
  %38 = fmul reassoc ninf nsz <2 x float> %29, %29
  %39 = insertelement <2 x float> <float poison, float 5.000000e-01>, float %22, i64 0
  %40 = fmul reassoc ninf nsz <2 x float> %38, %39
  %41 = extractelement <2 x float> %40, i64 0
  %42 = extractelement <2 x float> %40, i64 1
  %43 = fmul reassoc ninf nsz float %41, %42
  %44 = extractelement <2 x i32> %26, i64 0
  %45 = mul i32 %9, %44
  %46 = extractelement <2 x i32> %26, i64 1
  %47 = add i32 %45, %46
  %48 = sext i32 %47 to i64
  %49 = getelementptr float, float* %11, i64 %48
  %50 = load float, float* %49, align 4
  %51 = fadd reassoc ninf nsz float %43, %50
  store float %51, float* %49, align 4
  %52 = mul i32 %13, %44
  %53 = add i32 %52, %46
  %54 = shl i32 %53, 1
  %55 = sext i32 %54 to i64
  %56 = getelementptr float, float* %15, i64 %55
  %57 = bitcast float* %56 to <2 x float>*
  %58 = load <2 x float>, <2 x float>* %57, align 4
  %59 = insertelement <2 x float> poison, float %43, i64 0
  %60 = shufflevector <2 x float> %59, <2 x float> poison, <2 x i32> zeroinitializer
  %61 = fmul reassoc ninf nsz <2 x float> %60, %24
  %62 = fadd reassoc ninf nsz <2 x float> %61, %58
  store <2 x float> %62, <2 x float>* %57, align 4
  %63 = add i32 %46, 1
  %64 = fmul reassoc ninf nsz float %41, %37
  %65 = add i32 %63, %45
  %66 = sext i32 %65 to i64
  %67 = getelementptr float, float* %11, i64 %66
  %68 = load float, float* %67, align 4
  %69 = fadd reassoc ninf nsz float %68, %64
  store float %69, float* %67, align 4
  %70 = add i32 %63, %52
  %71 = shl i32 %70, 1
  %72 = sext i32 %71 to i64
  %73 = getelementptr float, float* %15, i64 %72
  %74 = load float, float* %73, align 4
  %75 = getelementptr float, float* %73, i64 1
  %76 = load float, float* %75, align 4
  %77 = extractelement <2 x float> %24, i64 0
  %78 = fmul reassoc ninf nsz float %64, %77
  %79 = extractelement <2 x float> %24, i64 1
  %80 = fmul reassoc ninf nsz float %64, %79
  %81 = fadd reassoc ninf nsz float %74, %78
  %82 = fadd reassoc ninf nsz float %76, %80
  store float %81, float* %73, align 4
  store float %82, float* %75, align 4
  %83 = add i32 %44, 1
  %84 = fmul reassoc ninf nsz float %36, %21
  %85 = fmul reassoc ninf nsz float %84, %42
  %86 = mul i32 %83, %9
  %87 = add i32 %86, %46
  %88 = sext i32 %87 to i64
  %89 = getelementptr float, float* %11, i64 %88
  %90 = load float, float* %89, align 4
  %91 = fadd reassoc ninf nsz float %90, %85
  store float %91, float* %89, align 4
  %92 = mul i32 %83, %13
  %93 = add i32 %92, %46
  %94 = shl i32 %93, 1
  %95 = sext i32 %94 to i64
  %96 = getelementptr float, float* %15, i64 %95
  %97 = bitcast float* %96 to <2 x float>*
  %98 = load <2 x float>, <2 x float>* %97, align 4
  %99 = insertelement <2 x float> poison, float %85, i64 0
  %100 = shufflevector <2 x float> %99, <2 x float> poison, <2 x i32> zeroinitializer
  %101 = fmul reassoc ninf nsz <2 x float> %100, %24
  %102 = fadd reassoc ninf nsz <2 x float> %98, %101
  store <2 x float> %102, <2 x float>* %97, align 4
  %103 = fmul reassoc ninf nsz float %84, %37
  %104 = add i32 %86, %63
  %105 = sext i32 %104 to i64
  %106 = getelementptr float, float* %11, i64 %105
  %107 = load float, float* %106, align 4
  %108 = fadd reassoc ninf nsz float %107, %103
  store float %108, float* %106, align 4
  %109 = add i32 %92, %63
  %110 = shl i32 %109, 1
  %111 = sext i32 %110 to i64
  %112 = getelementptr float, float* %15, i64 %111
  %113 = load float, float* %112, align 4
  %114 = getelementptr float, float* %112, i64 1
  %115 = load float, float* %114, align 4
  %116 = fmul reassoc ninf nsz float %103, %77
  %117 = fmul reassoc ninf nsz float %103, %79
  %118 = fadd reassoc ninf nsz float %113, %116
  %119 = fadd reassoc ninf nsz float %115, %117
  store float %118, float* %112, align 4
  store float %119, float* %114, align 4
  %120 = add nuw nsw i64 %lsr.iv24, 8589934592
  %121 = ashr exact i64 %120, 32
  %122 = getelementptr float, float* %5, i64 %121
  %scevgep30 = getelementptr float, float* %scevgep32, i64 -2
  %123 = load float, float* %scevgep30, align 4
  %124 = fmul reassoc ninf nsz float %123, 5.000000e-01
  %125 = bitcast float* %122 to <2 x float>*
  %126 = load <2 x float>, <2 x float>* %125, align 4
  %127 = fadd reassoc ninf nsz <2 x float> %126, <float -5.000000e-01, float -5.000000e-01>
  %128 = fptosi <2 x float> %127 to <2 x i32>
  %129 = sitofp <2 x i32> %128 to <2 x float>
  %130 = fsub reassoc ninf nsz <2 x float> %126, %129
  %131 = fsub reassoc ninf nsz <2 x float> <float 1.500000e+00, float 1.500000e+00>, %130
  %132 = extractelement <2 x float> %130, i64 0
  %133 = fadd reassoc ninf nsz float %132, -1.000000e+00
  %134 = extractelement <2 x float> %130, i64 1
  %135 = fadd reassoc ninf nsz float %134, -1.000000e+00
  %136 = fmul reassoc ninf nsz float %133, %133
  %137 = fmul reassoc ninf nsz float %135, %135
  %138 = fsub reassoc ninf nsz float 7.500000e-01, %136
  %139 = fsub reassoc ninf nsz float 7.500000e-01, %137
  %140 = fmul reassoc ninf nsz <2 x float> %131, %131
  %141 = insertelement <2 x float> <float poison, float 5.000000e-01>, float %124, i64 0
  %142 = fmul reassoc ninf nsz <2 x float> %140, %141
  %143 = extractelement <2 x float> %142, i64 0
  %144 = extractelement <2 x float> %142, i64 1
  %145 = fmul reassoc ninf nsz float %143, %144
  %146 = extractelement <2 x i32> %128, i64 0
  %147 = mul i32 %9, %146
  %148 = extractelement <2 x i32> %128, i64 1
  %149 = add i32 %147, %148
  %150 = sext i32 %149 to i64
  %151 = getelementptr float, float* %11, i64 %150
  %152 = load float, float* %151, align 4
  %153 = fadd reassoc ninf nsz float %145, %152
  store float %153, float* %151, align 4
  %154 = mul i32 %13, %146
  %155 = add i32 %154, %148
  %156 = shl i32 %155, 1
  %157 = sext i32 %156 to i64
  %158 = getelementptr float, float* %15, i64 %157
  %159 = bitcast float* %158 to <2 x float>*
  %160 = load <2 x float>, <2 x float>* %159, align 4
  %161 = insertelement <2 x float> poison, float %145, i64 0
  %162 = shufflevector <2 x float> %161, <2 x float> poison, <2 x i32> zeroinitializer
  %163 = fmul reassoc ninf nsz <2 x float> %162, %126
  %164 = fadd reassoc ninf nsz <2 x float> %163, %160
  store <2 x float> %164, <2 x float>* %159, align 4
  %165 = add i32 %148, 1
  %166 = fmul reassoc ninf nsz float %143, %139
  %167 = add i32 %165, %147
  %168 = sext i32 %167 to i64
  %169 = getelementptr float, float* %11, i64 %168
  %170 = load float, float* %169, align 4
  %171 = fadd reassoc ninf nsz float %170, %166
  store float %171, float* %169, align 4
  %172 = add i32 %165, %154
  %173 = shl i32 %172, 1
  %174 = sext i32 %173 to i64
  %175 = getelementptr float, float* %15, i64 %174
  %176 = load float, float* %175, align 4
  %177 = getelementptr float, float* %175, i64 1
  %178 = load float, float* %177, align 4
  %179 = extractelement <2 x float> %126, i64 0
  %180 = fmul reassoc ninf nsz float %166, %179
  %181 = extractelement <2 x float> %126, i64 1
  %182 = fmul reassoc ninf nsz float %166, %181
  %183 = fadd reassoc ninf nsz float %176, %180
  %184 = fadd reassoc ninf nsz float %178, %182
  store float %183, float* %175, align 4
  store float %184, float* %177, align 4
  %185 = add i32 %146, 1
  %186 = fmul reassoc ninf nsz float %138, %123
  %187 = fmul reassoc ninf nsz float %186, %144
  %188 = mul i32 %185, %9
  %189 = add i32 %188, %148
  %190 = sext i32 %189 to i64
  %191 = getelementptr float, float* %11, i64 %190
  %192 = load float, float* %191, align 4
  %193 = fadd reassoc ninf nsz float %192, %187
  store float %193, float* %191, align 4
  %194 = mul i32 %185, %13
  %195 = add i32 %194, %148
  %196 = shl i32 %195, 1
  %197 = sext i32 %196 to i64
  %198 = getelementptr float, float* %15, i64 %197
  %199 = bitcast float* %198 to <2 x float>*
  %200 = load <2 x float>, <2 x float>* %199, align 4
  %201 = insertelement <2 x float> poison, float %187, i64 0
  %202 = shufflevector <2 x float> %201, <2 x float> poison, <2 x i32> zeroinitializer
  %203 = fmul reassoc ninf nsz <2 x float> %202, %126
  %204 = fadd reassoc ninf nsz <2 x float> %200, %203
  store <2 x float> %204, <2 x float>* %199, align 4
  %205 = fmul reassoc ninf nsz float %186, %139
  %206 = add i32 %188, %165
  %207 = sext i32 %206 to i64
  %208 = getelementptr float, float* %11, i64 %207
  %209 = load float, float* %208, align 4
  %210 = fadd reassoc ninf nsz float %209, %205
  store float %210, float* %208, align 4
  %211 = add i32 %194, %165
  %212 = shl i32 %211, 1
  %213 = sext i32 %212 to i64
  %214 = getelementptr float, float* %15, i64 %213
  %215 = load float, float* %214, align 4
  %216 = getelementptr float, float* %214, i64 1
  %217 = load float, float* %216, align 4
  %218 = fmul reassoc ninf nsz float %205, %179
  %219 = fmul reassoc ninf nsz float %205, %181
  %220 = fadd reassoc ninf nsz float %215, %218
  %221 = fadd reassoc ninf nsz float %217, %219
  store float %220, float* %214, align 4
  store float %221, float* %216, align 4
  %222 = add nuw nsw i64 %lsr.iv24, 17179869184
  %223 = ashr exact i64 %222, 32
  %224 = getelementptr float, float* %5, i64 %223
  %scevgep28 = getelementptr float, float* %scevgep32, i64 -1
  %225 = load float, float* %scevgep28, align 4
  %226 = fmul reassoc ninf nsz float %225, 5.000000e-01
  %227 = bitcast float* %224 to <2 x float>*
  %228 = load <2 x float>, <2 x float>* %227, align 4
  %229 = fadd reassoc ninf nsz <2 x float> %228, <float -5.000000e-01, float -5.000000e-01>
  %230 = fptosi <2 x float> %229 to <2 x i32>
  %231 = sitofp <2 x i32> %230 to <2 x float>
  %232 = fsub reassoc ninf nsz <2 x float> %228, %231
  %233 = fsub reassoc ninf nsz <2 x float> <float 1.500000e+00, float 1.500000e+00>, %232
  %234 = extractelement <2 x float> %232, i64 0
  %235 = fadd reassoc ninf nsz float %234, -1.000000e+00
  %236 = extractelement <2 x float> %232, i64 1
  %237 = fadd reassoc ninf nsz float %236, -1.000000e+00
  %238 = fmul reassoc ninf nsz float %235, %235
  %239 = fmul reassoc ninf nsz float %237, %237
  %240 = fsub reassoc ninf nsz float 7.500000e-01, %238
  %241 = fsub reassoc ninf nsz float 7.500000e-01, %239
  %242 = fmul reassoc ninf nsz <2 x float> %233, %233
  %243 = insertelement <2 x float> <float poison, float 5.000000e-01>, float %226, i64 0
  %244 = fmul reassoc ninf nsz <2 x float> %242, %243
  %245 = extractelement <2 x float> %244, i64 0
  %246 = extractelement <2 x float> %244, i64 1
  %247 = fmul reassoc ninf nsz float %245, %246
  %248 = extractelement <2 x i32> %230, i64 0
  %249 = mul i32 %9, %248
  %250 = extractelement <2 x i32> %230, i64 1
  %251 = add i32 %249, %250
  %252 = sext i32 %251 to i64
  %253 = getelementptr float, float* %11, i64 %252
  %254 = load float, float* %253, align 4
  %255 = fadd reassoc ninf nsz float %247, %254
  store float %255, float* %253, align 4
  %256 = mul i32 %13, %248
  %257 = add i32 %256, %250
  %258 = shl i32 %257, 1
  %259 = sext i32 %258 to i64
  %260 = getelementptr float, float* %15, i64 %259
  %261 = bitcast float* %260 to <2 x float>*
  %262 = load <2 x float>, <2 x float>* %261, align 4
  %263 = insertelement <2 x float> poison, float %247, i64 0
  %264 = shufflevector <2 x float> %263, <2 x float> poison, <2 x i32> zeroinitializer
  %265 = fmul reassoc ninf nsz <2 x float> %264, %228
  %266 = fadd reassoc ninf nsz <2 x float> %265, %262
  store <2 x float> %266, <2 x float>* %261, align 4
  %267 = add i32 %250, 1
  %268 = fmul reassoc ninf nsz float %245, %241
  %269 = add i32 %267, %249
  %270 = sext i32 %269 to i64
  %271 = getelementptr float, float* %11, i64 %270
  %272 = load float, float* %271, align 4
  %273 = fadd reassoc ninf nsz float %272, %268
  store float %273, float* %271, align 4
  %274 = add i32 %267, %256
  %275 = shl i32 %274, 1
  %276 = sext i32 %275 to i64
  %277 = getelementptr float, float* %15, i64 %276
  %278 = load float, float* %277, align 4
  %279 = getelementptr float, float* %277, i64 1
  %280 = load float, float* %279, align 4
  %281 = extractelement <2 x float> %228, i64 0
  %282 = fmul reassoc ninf nsz float %268, %281
  %283 = extractelement <2 x float> %228, i64 1
  %284 = fmul reassoc ninf nsz float %268, %283
  %285 = fadd reassoc ninf nsz float %278, %282
  %286 = fadd reassoc ninf nsz float %280, %284
  store float %285, float* %277, align 4
  store float %286, float* %279, align 4
  %287 = add i32 %248, 1
  %288 = fmul reassoc ninf nsz float %240, %225
  %289 = fmul reassoc ninf nsz float %288, %246
  %290 = mul i32 %287, %9
  %291 = add i32 %290, %250
  %292 = sext i32 %291 to i64
  %293 = getelementptr float, float* %11, i64 %292
  %294 = load float, float* %293, align 4
  %295 = fadd reassoc ninf nsz float %294, %289
  store float %295, float* %293, align 4
  %296 = mul i32 %287, %13
  %297 = add i32 %296, %250
  %298 = shl i32 %297, 1
  %299 = sext i32 %298 to i64
  %300 = getelementptr float, float* %15, i64 %299
  %301 = bitcast float* %300 to <2 x float>*
  %302 = load <2 x float>, <2 x float>* %301, align 4
  %303 = insertelement <2 x float> poison, float %289, i64 0
  %304 = shufflevector <2 x float> %303, <2 x float> poison, <2 x i32> zeroinitializer
  %305 = fmul reassoc ninf nsz <2 x float> %304, %228
  %306 = fadd reassoc ninf nsz <2 x float> %302, %305
  store <2 x float> %306, <2 x float>* %301, align 4
  %307 = fmul reassoc ninf nsz float %288, %241
  %308 = add i32 %290, %267
  %309 = sext i32 %308 to i64
  %310 = getelementptr float, float* %11, i64 %309
  %311 = load float, float* %310, align 4
  %312 = fadd reassoc ninf nsz float %311, %307
  store float %312, float* %310, align 4
  %313 = add i32 %296, %267
  %314 = shl i32 %313, 1
  %315 = sext i32 %314 to i64
  %316 = getelementptr float, float* %15, i64 %315
  %317 = load float, float* %316, align 4
  %318 = getelementptr float, float* %316, i64 1
  %319 = load float, float* %318, align 4
  %320 = fmul reassoc ninf nsz float %307, %281
  %321 = fmul reassoc ninf nsz float %307, %283
  %322 = fadd reassoc ninf nsz float %317, %320
  %323 = fadd reassoc ninf nsz float %319, %321
  store float %322, float* %316, align 4
  store float %323, float* %318, align 4
  %324 = add nuw nsw i64 %lsr.iv24, 25769803776
  %325 = ashr exact i64 %324, 32
  %326 = getelementptr float, float* %5, i64 %325
  %327 = load float, float* %scevgep32, align 4
  %328 = fmul reassoc ninf nsz float %327, 5.000000e-01
  %329 = bitcast float* %326 to <2 x float>*
  %330 = load <2 x float>, <2 x float>* %329, align 4
  %331 = fadd reassoc ninf nsz <2 x float> %330, <float -5.000000e-01, float -5.000000e-01>
  %332 = fptosi <2 x float> %331 to <2 x i32>
  %333 = sitofp <2 x i32> %332 to <2 x float>
  %334 = fsub reassoc ninf nsz <2 x float> %330, %333
  %335 = fsub reassoc ninf nsz <2 x float> <float 1.500000e+00, float 1.500000e+00>, %334
  %336 = extractelement <2 x float> %334, i64 0
  %337 = fadd reassoc ninf nsz float %336, -1.000000e+00
  %338 = extractelement <2 x float> %334, i64 1
  %339 = fadd reassoc ninf nsz float %338, -1.000000e+00
  %340 = fmul reassoc ninf nsz float %337, %337
  %341 = fmul reassoc ninf nsz float %339, %339
  %342 = fsub reassoc ninf nsz float 7.500000e-01, %340
  %343 = fsub reassoc ninf nsz float 7.500000e-01, %341
  %344 = fmul reassoc ninf nsz <2 x float> %335, %335
  %345 = insertelement <2 x float> <float poison, float 5.000000e-01>, float %328, i64 0
  %346 = fmul reassoc ninf nsz <2 x float> %344, %345
  %347 = extractelement <2 x float> %346, i64 0
  %348 = extractelement <2 x float> %346, i64 1
  %349 = fmul reassoc ninf nsz float %347, %348
  %350 = extractelement <2 x i32> %332, i64 0
  %351 = mul i32 %9, %350
  %352 = extractelement <2 x i32> %332, i64 1
  %353 = add i32 %351, %352
  %354 = sext i32 %353 to i64
  %355 = getelementptr float, float* %11, i64 %354
  %356 = load float, float* %355, align 4
  %357 = fadd reassoc ninf nsz float %349, %356
  store float %357, float* %355, align 4
  %358 = mul i32 %13, %350
  %359 = add i32 %358, %352
  %360 = shl i32 %359, 1
  %361 = sext i32 %360 to i64
  %362 = getelementptr float, float* %15, i64 %361
  %363 = bitcast float* %362 to <2 x float>*
  %364 = load <2 x float>, <2 x float>* %363, align 4
  %365 = insertelement <2 x float> poison, float %349, i64 0
  %366 = shufflevector <2 x float> %365, <2 x float> poison, <2 x i32> zeroinitializer
  %367 = fmul reassoc ninf nsz <2 x float> %366, %330
  %368 = fadd reassoc ninf nsz <2 x float> %367, %364
  store <2 x float> %368, <2 x float>* %363, align 4
  %369 = add i32 %352, 1
  %370 = fmul reassoc ninf nsz float %347, %343
  %371 = add i32 %369, %351
  %372 = sext i32 %371 to i64
  %373 = getelementptr float, float* %11, i64 %372
  %374 = load float, float* %373, align 4
  %375 = fadd reassoc ninf nsz float %374, %370
  store float %375, float* %373, align 4
  %376 = add i32 %369, %358
  %377 = shl i32 %376, 1
  %378 = sext i32 %377 to i64
  %379 = getelementptr float, float* %15, i64 %378
  %380 = load float, float* %379, align 4
  %381 = getelementptr float, float* %379, i64 1
  %382 = load float, float* %381, align 4
  %383 = extractelement <2 x float> %330, i64 0
  %384 = fmul reassoc ninf nsz float %370, %383
  %385 = extractelement <2 x float> %330, i64 1
  %386 = fmul reassoc ninf nsz float %370, %385
  %387 = fadd reassoc ninf nsz float %380, %384
  %388 = fadd reassoc ninf nsz float %382, %386
  store float %387, float* %379, align 4
  store float %388, float* %381, align 4
  %389 = add i32 %350, 1
  %390 = fmul reassoc ninf nsz float %342, %327
  %391 = fmul reassoc ninf nsz float %390, %348
  %392 = mul i32 %389, %9
  %393 = add i32 %392, %352
  %394 = sext i32 %393 to i64
  %395 = getelementptr float, float* %11, i64 %394
  %396 = load float, float* %395, align 4
  %397 = fadd reassoc ninf nsz float %396, %391
  store float %397, float* %395, align 4
  %398 = mul i32 %389, %13
  %399 = add i32 %398, %352
  %400 = shl i32 %399, 1
  %401 = sext i32 %400 to i64
  %402 = getelementptr float, float* %15, i64 %401
  %403 = bitcast float* %402 to <2 x float>*
  %404 = load <2 x float>, <2 x float>* %403, align 4
  %405 = insertelement <2 x float> poison, float %391, i64 0
  %406 = shufflevector <2 x float> %405, <2 x float> poison, <2 x i32> zeroinitializer
  %407 = fmul reassoc ninf nsz <2 x float> %406, %330
  %408 = fadd reassoc ninf nsz <2 x float> %404, %407
  store <2 x float> %408, <2 x float>* %403, align 4
  %409 = fmul reassoc ninf nsz float %390, %343
  %410 = add i32 %392, %369
  %411 = sext i32 %410 to i64
  %412 = getelementptr float, float* %11, i64 %411
  %413 = load float, float* %412, align 4
  %414 = fadd reassoc ninf nsz float %413, %409
  store float %414, float* %412, align 4
  %415 = add i32 %398, %369
  %416 = shl i32 %415, 1
  %417 = sext i32 %416 to i64
  %418 = getelementptr float, float* %15, i64 %417
  %419 = load float, float* %418, align 4
  %420 = getelementptr float, float* %418, i64 1
  %421 = load float, float* %420, align 4
  %422 = fmul reassoc ninf nsz float %409, %383
  %423 = fmul reassoc ninf nsz float %409, %385
  %424 = fadd reassoc ninf nsz float %419, %422
  %425 = fadd reassoc ninf nsz float %421, %423
  store float %424, float* %418, align 4
  store float %425, float* %420, align 4
  %indvars.iv.next.i.3 = add nuw i64 %indvars.iv.i, 4
  %lsr.iv.next25 = add i64 %lsr.iv24, 34359738368
  %niter.ncmp.3 = icmp eq i64 %unroll_iter, %indvars.iv.next.i.3
  br i1 %niter.ncmp.3, label %particles_to_grid_body_1048580_0.exit.loopexit.unr-lcssa.loopexit, label %for_loop_body.i

particles_to_grid_body_1048580_0.exit.loopexit.unr-lcssa.loopexit: ; preds = %for_loop_body.i
  br label %particles_to_grid_body_1048580_0.exit.loopexit.unr-lcssa

particles_to_grid_body_1048580_0.exit.loopexit.unr-lcssa: ; preds = %particles_to_grid_body_1048580_0.exit.loopexit.unr-lcssa.loopexit, %for_loop_body.preheader.i
  %indvars.iv.i.unr = phi i64 [ 0, %for_loop_body.preheader.i ], [ %indvars.iv.next.i.3, %particles_to_grid_body_1048580_0.exit.loopexit.unr-lcssa.loopexit ]
  %lcmp.mod.not = icmp eq i64 %xtraiter, 0
  br i1 %lcmp.mod.not, label %particles_to_grid_body_1048580_0.exit, label %for_loop_body.i.epil.preheader

for_loop_body.i.epil.preheader:                   ; preds = %particles_to_grid_body_1048580_0.exit.loopexit.unr-lcssa
  %scevgep = getelementptr float, float* %7, i64 %indvars.iv.i.unr
  %426 = shl i64 %indvars.iv.i.unr, 33
  br label %for_loop_body.i.epil

for_loop_body.i.epil:                             ; preds = %for_loop_body.i.epil.preheader, %for_loop_body.i.epil
  %lsr.iv = phi i64 [ %426, %for_loop_body.i.epil.preheader ], [ %lsr.iv.next, %for_loop_body.i.epil ]
  %epil.iter = phi i64 [ %epil.iter.next, %for_loop_body.i.epil ], [ 0, %for_loop_body.i.epil.preheader ]
  %427 = ashr exact i64 %lsr.iv, 32
  %428 = getelementptr float, float* %5, i64 %427
  %scevgep23 = getelementptr float, float* %scevgep, i64 %epil.iter
  %429 = load float, float* %scevgep23, align 4
  %430 = fmul reassoc ninf nsz float %429, 5.000000e-01
  %431 = bitcast float* %428 to <2 x float>*
  %432 = load <2 x float>, <2 x float>* %431, align 4
  %433 = fadd reassoc ninf nsz <2 x float> %432, <float -5.000000e-01, float -5.000000e-01>
  %434 = fptosi <2 x float> %433 to <2 x i32>
  %435 = sitofp <2 x i32> %434 to <2 x float>
  %436 = fsub reassoc ninf nsz <2 x float> %432, %435
  %437 = fsub reassoc ninf nsz <2 x float> <float 1.500000e+00, float 1.500000e+00>, %436
  %438 = extractelement <2 x float> %436, i64 0
  %439 = fadd reassoc ninf nsz float %438, -1.000000e+00
  %440 = extractelement <2 x float> %436, i64 1
  %441 = fadd reassoc ninf nsz float %440, -1.000000e+00
  %442 = fmul reassoc ninf nsz float %439, %439
  %443 = fmul reassoc ninf nsz float %441, %441
  %444 = fsub reassoc ninf nsz float 7.500000e-01, %442
  %445 = fsub reassoc ninf nsz float 7.500000e-01, %443
  %446 = fmul reassoc ninf nsz <2 x float> %437, %437
  %447 = insertelement <2 x float> <float poison, float 5.000000e-01>, float %430, i64 0
  %448 = fmul reassoc ninf nsz <2 x float> %446, %447
  %449 = extractelement <2 x float> %448, i64 0
  %450 = extractelement <2 x float> %448, i64 1
  %451 = fmul reassoc ninf nsz float %449, %450
  %452 = extractelement <2 x i32> %434, i64 0
  %453 = mul i32 %9, %452
  %454 = extractelement <2 x i32> %434, i64 1
  %455 = add i32 %453, %454
  %456 = sext i32 %455 to i64
  %457 = getelementptr float, float* %11, i64 %456
  %458 = load float, float* %457, align 4
  %459 = fadd reassoc ninf nsz float %451, %458
  store float %459, float* %457, align 4
  %460 = mul i32 %13, %452
  %461 = add i32 %460, %454
  %462 = shl i32 %461, 1
  %463 = sext i32 %462 to i64
  %464 = getelementptr float, float* %15, i64 %463
  %465 = bitcast float* %464 to <2 x float>*
  %466 = load <2 x float>, <2 x float>* %465, align 4
  %467 = insertelement <2 x float> poison, float %451, i64 0
  %468 = shufflevector <2 x float> %467, <2 x float> poison, <2 x i32> zeroinitializer
  %469 = fmul reassoc ninf nsz <2 x float> %468, %432
  %470 = fadd reassoc ninf nsz <2 x float> %469, %466
  store <2 x float> %470, <2 x float>* %465, align 4
  %471 = add i32 %454, 1
  %472 = fmul reassoc ninf nsz float %449, %445
  %473 = add i32 %471, %453
  %474 = sext i32 %473 to i64
  %475 = getelementptr float, float* %11, i64 %474
  %476 = load float, float* %475, align 4
  %477 = fadd reassoc ninf nsz float %476, %472
  store float %477, float* %475, align 4
  %478 = add i32 %471, %460
  %479 = shl i32 %478, 1
  %480 = sext i32 %479 to i64
  %481 = getelementptr float, float* %15, i64 %480
  %482 = load float, float* %481, align 4
  %483 = getelementptr float, float* %481, i64 1
  %484 = load float, float* %483, align 4
  %485 = extractelement <2 x float> %432, i64 0
  %486 = fmul reassoc ninf nsz float %472, %485
  %487 = extractelement <2 x float> %432, i64 1
  %488 = fmul reassoc ninf nsz float %472, %487
  %489 = fadd reassoc ninf nsz float %482, %486
  %490 = fadd reassoc ninf nsz float %484, %488
  store float %489, float* %481, align 4
  store float %490, float* %483, align 4
  %491 = add i32 %452, 1
  %492 = fmul reassoc ninf nsz float %444, %429
  %493 = fmul reassoc ninf nsz float %492, %450
  %494 = mul i32 %491, %9
  %495 = add i32 %494, %454
  %496 = sext i32 %495 to i64
  %497 = getelementptr float, float* %11, i64 %496
  %498 = load float, float* %497, align 4
  %499 = fadd reassoc ninf nsz float %498, %493
  store float %499, float* %497, align 4
  %500 = mul i32 %491, %13
  %501 = add i32 %500, %454
  %502 = shl i32 %501, 1
  %503 = sext i32 %502 to i64
  %504 = getelementptr float, float* %15, i64 %503
  %505 = bitcast float* %504 to <2 x float>*
  %506 = load <2 x float>, <2 x float>* %505, align 4
  %507 = insertelement <2 x float> poison, float %493, i64 0
  %508 = shufflevector <2 x float> %507, <2 x float> poison, <2 x i32> zeroinitializer
  %509 = fmul reassoc ninf nsz <2 x float> %508, %432
  %510 = fadd reassoc ninf nsz <2 x float> %506, %509
  store <2 x float> %510, <2 x float>* %505, align 4
  %511 = fmul reassoc ninf nsz float %492, %445
  %512 = add i32 %494, %471
  %513 = sext i32 %512 to i64
  %514 = getelementptr float, float* %11, i64 %513
  %515 = load float, float* %514, align 4
  %516 = fadd reassoc ninf nsz float %515, %511
  store float %516, float* %514, align 4
  %517 = add i32 %500, %471
  %518 = shl i32 %517, 1
  %519 = sext i32 %518 to i64
  %520 = getelementptr float, float* %15, i64 %519
  %521 = load float, float* %520, align 4
  %522 = getelementptr float, float* %520, i64 1
  %523 = load float, float* %522, align 4
  %524 = fmul reassoc ninf nsz float %511, %485
  %525 = fmul reassoc ninf nsz float %511, %487
  %526 = fadd reassoc ninf nsz float %521, %524
  %527 = fadd reassoc ninf nsz float %523, %525
  store float %526, float* %520, align 4
  store float %527, float* %522, align 4
  %epil.iter.next = add nuw nsw i64 %epil.iter, 1
  %lsr.iv.next = add i64 %lsr.iv, 8589934592
  %epil.iter.cmp.not = icmp eq i64 %xtraiter, %epil.iter.next
  br i1 %epil.iter.cmp.not, label %particles_to_grid_body_1048580_0.exit.loopexit, label %for_loop_body.i.epil, !llvm.loop !6

particles_to_grid_body_1048580_0.exit.loopexit:   ; preds = %for_loop_body.i.epil
  br label %particles_to_grid_body_1048580_0.exit

particles_to_grid_body_1048580_0.exit:            ; preds = %particles_to_grid_body_1048580_0.exit.loopexit, %particles_to_grid_body_1048580_0.exit.loopexit.unr-lcssa, %entry
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
