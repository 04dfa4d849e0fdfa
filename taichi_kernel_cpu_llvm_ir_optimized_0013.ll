; ModuleID = 'kernel'
source_filename = "kernel"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

%struct.RuntimeContext.91 = type { i8*, %struct.LLVMRuntime.90*, i32, i64* }
%struct.LLVMRuntime.90 = type { %struct.PreallocatedMemoryChunk.85, %struct.PreallocatedMemoryChunk.85, i8* (i8*, i64, i64)*, void (i8*)*, void (i8*, ...)*, i32 (i8*, i64, i8*, %struct.__va_list_tag.86*)*, i8*, [512 x i8*], [512 x i64], i8*, void (i8*, i32, i32, i8*, void (i8*, i32, i32)*)*, [1024 x %struct.ListManager.87*], [1024 x %struct.NodeManager.88*], [1024 x i8*], i8*, %struct.RandState.89*, i8*, void (i8*, i8*)*, void (i8*)*, [2048 x i8], [32 x i64], i32, i64, i8*, i32, i32, i64 }
%struct.PreallocatedMemoryChunk.85 = type { i8*, i8*, i64 }
%struct.__va_list_tag.86 = type { i32, i32, i8*, i8* }
%struct.ListManager.87 = type { [131072 x i8*], i64, i64, i32, i32, i32, %struct.LLVMRuntime.90* }
%struct.NodeManager.88 = type <{ %struct.LLVMRuntime.90*, i32, i32, i32, i32, %struct.ListManager.87*, %struct.ListManager.87*, %struct.ListManager.87*, i32, [4 x i8] }>
%struct.RandState.89 = type { i32, i32, i32, i32, i32 }

; Function Attrs: nofree norecurse nosync nounwind
define void @convolution_in_two_axes_adjoint_c13_0_kernel_0_serial(%struct.RuntimeContext.91* nocapture readonly %context) local_unnamed_addr #0 {
entry:
  %0 = bitcast %struct.RuntimeContext.91* %context to { { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* } }**
  %1 = load { { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* } }*, { { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* } }** %0, align 8
  %2 = getelementptr { { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* } }, { { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* } }* %1, i64 0, i32 0, i32 0, i32 1
  %3 = load i32, i32* %2, align 4
  %4 = getelementptr { { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* } }, { { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* } }* %1, i64 0, i32 0, i32 1
  %5 = load float*, float** %4, align 8
  %6 = getelementptr { { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* } }, { { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* } }* %1, i64 0, i32 1, i32 0, i32 1
  %7 = load i32, i32* %6, align 4
  %8 = getelementptr { { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* } }, { { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* } }* %1, i64 0, i32 1, i32 1
  %9 = load float*, float** %8, align 8
  %10 = getelementptr { { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* } }, { { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* } }* %1, i64 0, i32 2, i32 0, i32 1
  %11 = load i32, i32* %10, align 4
  %12 = getelementptr { { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* } }, { { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* } }* %1, i64 0, i32 2, i32 1
  %13 = load float*, float** %12, align 8
  %14 = getelementptr { { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* } }, { { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* } }* %1, i64 0, i32 3, i32 0, i32 1
  %15 = load i32, i32* %14, align 4
  %16 = getelementptr { { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* } }, { { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* } }* %1, i64 0, i32 3, i32 1
  %17 = load float*, float** %16, align 8
  %18 = getelementptr { { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* } }, { { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* } }* %1, i64 0, i32 4, i32 0, i32 1
  %19 = load i32, i32* %18, align 4
  %20 = getelementptr { { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* } }, { { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* }, { { i32, i32 }, float* } }* %1, i64 0, i32 4, i32 1
  %21 = load float*, float** %20, align 8
  %22 = getelementptr float, float* %9, i64 1
  %23 = getelementptr float, float* %9, i64 2
  %24 = sext i32 %7 to i64
  %25 = getelementptr float, float* %9, i64 %24
  %26 = add i32 %7, 1
  %27 = sext i32 %26 to i64
  %28 = getelementptr float, float* %9, i64 %27
  %29 = add i32 %7, 2
  %30 = sext i32 %29 to i64
  %31 = getelementptr float, float* %9, i64 %30
  %32 = shl i32 %7, 1
  %33 = sext i32 %32 to i64
  %34 = getelementptr float, float* %9, i64 %33
  %35 = getelementptr float, float* %34, i64 1
  %36 = add i32 %32, 2
  %37 = sext i32 %36 to i64
  %38 = getelementptr float, float* %9, i64 %37
  %39 = shl i32 %15, 1
  %40 = sext i32 %39 to i64
  %41 = getelementptr float, float* %17, i64 %40
  %42 = getelementptr float, float* %41, i64 1
  %43 = add i32 %39, 2
  %44 = sext i32 %43 to i64
  %45 = getelementptr float, float* %17, i64 %44
  %46 = sext i32 %15 to i64
  %47 = getelementptr float, float* %17, i64 %46
  %48 = add i32 %15, 1
  %49 = sext i32 %48 to i64
  %50 = getelementptr float, float* %17, i64 %49
  %51 = add i32 %15, 2
  %52 = sext i32 %51 to i64
  %53 = getelementptr float, float* %17, i64 %52
  %54 = getelementptr float, float* %17, i64 1
  %55 = getelementptr float, float* %17, i64 2
  %56 = shl i32 %3, 1
  %57 = mul i32 %3, 3
  %58 = shl i32 %3, 2
  %59 = shl i32 %11, 2
  %60 = mul i32 %11, 3
  %61 = shl i32 %11, 1
  %62 = mul i32 %19, 3
  br label %for_loop_body.i

for_loop_body.i:                                  ; preds = %after_for3.i, %entry
  %lsr.iv64 = phi i32 [ %lsr.iv.next65, %after_for3.i ], [ %62, %entry ]
  %lsr.iv62 = phi i32 [ %lsr.iv.next63, %after_for3.i ], [ %61, %entry ]
  %lsr.iv60 = phi i32 [ %lsr.iv.next61, %after_for3.i ], [ %60, %entry ]
  %lsr.iv58 = phi i32 [ %lsr.iv.next59, %after_for3.i ], [ %59, %entry ]
  %lsr.iv56 = phi i32 [ %lsr.iv.next57, %after_for3.i ], [ %58, %entry ]
  %lsr.iv54 = phi i32 [ %lsr.iv.next55, %after_for3.i ], [ %57, %entry ]
  %lsr.iv = phi i32 [ %lsr.iv.next, %after_for3.i ], [ %56, %entry ]
  %.0130.i = phi i32 [ 1, %entry ], [ %349, %after_for3.i ]
  br label %for_loop_body1.i

for_loop_body1.i:                                 ; preds = %for_loop_body1.i.1, %for_loop_body.i
  %indvars.iv = phi i64 [ %indvars.iv.next, %for_loop_body1.i.1 ], [ 0, %for_loop_body.i ]
  %lsr.iv66 = phi i64 [ %lsr.iv.next67, %for_loop_body1.i.1 ], [ 2, %for_loop_body.i ]
  %63 = load float, float* %9, align 4
  %64 = trunc i64 %indvars.iv to i32
  %65 = add i32 %lsr.iv, %64
  %66 = add i32 %65, 2
  %67 = sext i32 %66 to i64
  %68 = getelementptr float, float* %5, i64 %67
  %69 = load float, float* %68, align 4
  %70 = fmul reassoc ninf nsz float %69, %63
  %71 = load float, float* %22, align 4
  %72 = add i32 %65, 3
  %73 = sext i32 %72 to i64
  %74 = getelementptr float, float* %5, i64 %73
  %75 = load float, float* %74, align 4
  %76 = fmul reassoc ninf nsz float %75, %71
  %77 = fadd reassoc ninf nsz float %76, %70
  %78 = load float, float* %23, align 4
  %79 = add i32 %65, 4
  %80 = sext i32 %79 to i64
  %81 = getelementptr float, float* %5, i64 %80
  %82 = load float, float* %81, align 4
  %83 = fmul reassoc ninf nsz float %82, %78
  %84 = fadd reassoc ninf nsz float %77, %83
  %85 = load float, float* %25, align 4
  %86 = add i32 %lsr.iv54, %64
  %87 = add i32 %86, 2
  %88 = sext i32 %87 to i64
  %89 = getelementptr float, float* %5, i64 %88
  %90 = load float, float* %89, align 4
  %91 = fmul reassoc ninf nsz float %90, %85
  %92 = fadd reassoc ninf nsz float %84, %91
  %93 = load float, float* %28, align 4
  %94 = add i32 %86, 3
  %95 = sext i32 %94 to i64
  %96 = getelementptr float, float* %5, i64 %95
  %97 = load float, float* %96, align 4
  %98 = fmul reassoc ninf nsz float %97, %93
  %99 = fadd reassoc ninf nsz float %92, %98
  %100 = load float, float* %31, align 4
  %101 = add i32 %86, 4
  %102 = sext i32 %101 to i64
  %103 = getelementptr float, float* %5, i64 %102
  %104 = load float, float* %103, align 4
  %105 = fmul reassoc ninf nsz float %104, %100
  %106 = fadd reassoc ninf nsz float %99, %105
  %107 = load float, float* %34, align 4
  %108 = add i32 %lsr.iv56, %64
  %109 = add i32 %108, 2
  %110 = sext i32 %109 to i64
  %111 = getelementptr float, float* %5, i64 %110
  %112 = load float, float* %111, align 4
  %113 = fmul reassoc ninf nsz float %112, %107
  %114 = fadd reassoc ninf nsz float %106, %113
  %115 = load float, float* %35, align 4
  %116 = add i32 %108, 3
  %117 = sext i32 %116 to i64
  %118 = getelementptr float, float* %5, i64 %117
  %119 = load float, float* %118, align 4
  %120 = fmul reassoc ninf nsz float %119, %115
  %121 = fadd reassoc ninf nsz float %114, %120
  %122 = load float, float* %38, align 4
  %123 = add i32 %108, 4
  %124 = sext i32 %123 to i64
  %125 = getelementptr float, float* %5, i64 %124
  %126 = load float, float* %125, align 4
  %127 = fmul reassoc ninf nsz float %126, %122
  %128 = fadd reassoc ninf nsz float %121, %127
  %129 = add i32 %lsr.iv64, %64
  %130 = add i32 %129, 3
  %131 = sext i32 %130 to i64
  %132 = getelementptr float, float* %21, i64 %131
  %133 = load float, float* %132, align 4
  %134 = fmul reassoc ninf nsz float %133, 2.000000e+00
  %factor.i = fmul reassoc ninf nsz float %134, %128
  %135 = add i32 %lsr.iv58, %64
  %136 = add i32 %135, 2
  %137 = sext i32 %136 to i64
  %138 = getelementptr float, float* %13, i64 %137
  %139 = load float, float* %138, align 4
  %140 = fmul reassoc ninf nsz float %factor.i, %107
  %141 = fadd reassoc ninf nsz float %140, %139
  store float %141, float* %138, align 4
  %142 = load float, float* %41, align 4
  %143 = load float, float* %111, align 4
  %144 = fmul reassoc ninf nsz float %143, %factor.i
  %145 = fadd reassoc ninf nsz float %144, %142
  store float %145, float* %41, align 4
  %146 = add i32 %135, 3
  %147 = sext i32 %146 to i64
  %148 = getelementptr float, float* %13, i64 %147
  %149 = load float, float* %148, align 4
  %150 = fmul reassoc ninf nsz float %factor.i, %115
  %151 = fadd reassoc ninf nsz float %149, %150
  store float %151, float* %148, align 4
  %152 = load float, float* %42, align 4
  %153 = load float, float* %118, align 4
  %154 = fmul reassoc ninf nsz float %153, %factor.i
  %155 = fadd reassoc ninf nsz float %154, %152
  store float %155, float* %42, align 4
  %156 = add i32 %135, 4
  %157 = sext i32 %156 to i64
  %158 = getelementptr float, float* %13, i64 %157
  %159 = load float, float* %158, align 4
  %160 = fmul reassoc ninf nsz float %factor.i, %122
  %161 = fadd reassoc ninf nsz float %159, %160
  store float %161, float* %158, align 4
  %162 = load float, float* %45, align 4
  %163 = load float, float* %125, align 4
  %164 = fmul reassoc ninf nsz float %163, %factor.i
  %165 = fadd reassoc ninf nsz float %164, %162
  store float %165, float* %45, align 4
  %166 = add i32 %lsr.iv60, %64
  %167 = add i32 %166, 2
  %168 = sext i32 %167 to i64
  %169 = getelementptr float, float* %13, i64 %168
  %170 = load float, float* %169, align 4
  %171 = fmul reassoc ninf nsz float %factor.i, %85
  %172 = fadd reassoc ninf nsz float %170, %171
  store float %172, float* %169, align 4
  %173 = load float, float* %47, align 4
  %174 = load float, float* %89, align 4
  %175 = fmul reassoc ninf nsz float %174, %factor.i
  %176 = fadd reassoc ninf nsz float %175, %173
  store float %176, float* %47, align 4
  %177 = add i32 %166, 3
  %178 = sext i32 %177 to i64
  %179 = getelementptr float, float* %13, i64 %178
  %180 = load float, float* %179, align 4
  %181 = fmul reassoc ninf nsz float %factor.i, %93
  %182 = fadd reassoc ninf nsz float %180, %181
  store float %182, float* %179, align 4
  %183 = load float, float* %50, align 4
  %184 = load float, float* %96, align 4
  %185 = fmul reassoc ninf nsz float %184, %factor.i
  %186 = fadd reassoc ninf nsz float %185, %183
  store float %186, float* %50, align 4
  %187 = add i32 %166, 4
  %188 = sext i32 %187 to i64
  %189 = getelementptr float, float* %13, i64 %188
  %190 = load float, float* %189, align 4
  %191 = fmul reassoc ninf nsz float %factor.i, %100
  %192 = fadd reassoc ninf nsz float %190, %191
  store float %192, float* %189, align 4
  %193 = load float, float* %53, align 4
  %194 = load float, float* %103, align 4
  %195 = fmul reassoc ninf nsz float %194, %factor.i
  %196 = fadd reassoc ninf nsz float %195, %193
  store float %196, float* %53, align 4
  %197 = add i32 %lsr.iv62, %64
  %198 = add i32 %197, 2
  %199 = sext i32 %198 to i64
  %200 = getelementptr float, float* %13, i64 %199
  %201 = load float, float* %200, align 4
  %202 = fmul reassoc ninf nsz float %factor.i, %63
  %203 = fadd reassoc ninf nsz float %201, %202
  store float %203, float* %200, align 4
  %204 = load float, float* %17, align 4
  %205 = load float, float* %68, align 4
  %206 = fmul reassoc ninf nsz float %205, %factor.i
  %207 = fadd reassoc ninf nsz float %206, %204
  store float %207, float* %17, align 4
  %208 = add i32 %197, 3
  %209 = sext i32 %208 to i64
  %210 = getelementptr float, float* %13, i64 %209
  %211 = load float, float* %210, align 4
  %212 = fmul reassoc ninf nsz float %factor.i, %71
  %213 = fadd reassoc ninf nsz float %211, %212
  store float %213, float* %210, align 4
  %214 = load float, float* %54, align 4
  %215 = load float, float* %74, align 4
  %216 = fmul reassoc ninf nsz float %215, %factor.i
  %217 = fadd reassoc ninf nsz float %216, %214
  store float %217, float* %54, align 4
  %218 = add i32 %197, 4
  %219 = sext i32 %218 to i64
  %220 = getelementptr float, float* %13, i64 %219
  %221 = load float, float* %220, align 4
  %222 = fmul reassoc ninf nsz float %factor.i, %78
  %223 = fadd reassoc ninf nsz float %221, %222
  store float %223, float* %220, align 4
  %224 = load float, float* %55, align 4
  %225 = load float, float* %81, align 4
  %226 = fmul reassoc ninf nsz float %225, %factor.i
  %227 = fadd reassoc ninf nsz float %226, %224
  store float %227, float* %55, align 4
  store float 0.000000e+00, float* %132, align 4
  %exitcond.not.i = icmp eq i64 %lsr.iv66, 0
  br i1 %exitcond.not.i, label %after_for3.i, label %for_loop_body1.i.1

for_loop_body1.i.1:                               ; preds = %for_loop_body1.i
  %228 = load float, float* %9, align 4
  %229 = add i32 %65, 1
  %230 = sext i32 %229 to i64
  %231 = getelementptr float, float* %5, i64 %230
  %232 = load float, float* %231, align 4
  %233 = fmul reassoc ninf nsz float %232, %228
  %234 = load float, float* %22, align 4
  %235 = load float, float* %68, align 4
  %236 = fmul reassoc ninf nsz float %235, %234
  %237 = fadd reassoc ninf nsz float %236, %233
  %238 = load float, float* %23, align 4
  %239 = load float, float* %74, align 4
  %240 = fmul reassoc ninf nsz float %239, %238
  %241 = fadd reassoc ninf nsz float %237, %240
  %242 = load float, float* %25, align 4
  %243 = add i32 %86, 1
  %244 = sext i32 %243 to i64
  %245 = getelementptr float, float* %5, i64 %244
  %246 = load float, float* %245, align 4
  %247 = fmul reassoc ninf nsz float %246, %242
  %248 = fadd reassoc ninf nsz float %241, %247
  %249 = load float, float* %28, align 4
  %250 = load float, float* %89, align 4
  %251 = fmul reassoc ninf nsz float %250, %249
  %252 = fadd reassoc ninf nsz float %248, %251
  %253 = load float, float* %31, align 4
  %254 = load float, float* %96, align 4
  %255 = fmul reassoc ninf nsz float %254, %253
  %256 = fadd reassoc ninf nsz float %252, %255
  %257 = load float, float* %34, align 4
  %258 = add i32 %108, 1
  %259 = sext i32 %258 to i64
  %260 = getelementptr float, float* %5, i64 %259
  %261 = load float, float* %260, align 4
  %262 = fmul reassoc ninf nsz float %261, %257
  %263 = fadd reassoc ninf nsz float %256, %262
  %264 = load float, float* %35, align 4
  %265 = load float, float* %111, align 4
  %266 = fmul reassoc ninf nsz float %265, %264
  %267 = fadd reassoc ninf nsz float %263, %266
  %268 = load float, float* %38, align 4
  %269 = load float, float* %118, align 4
  %270 = fmul reassoc ninf nsz float %269, %268
  %271 = fadd reassoc ninf nsz float %267, %270
  %272 = add i32 %129, 2
  %273 = sext i32 %272 to i64
  %274 = getelementptr float, float* %21, i64 %273
  %275 = load float, float* %274, align 4
  %276 = fmul reassoc ninf nsz float %275, 2.000000e+00
  %factor.i.1 = fmul reassoc ninf nsz float %276, %271
  %277 = add i32 %135, 1
  %278 = sext i32 %277 to i64
  %279 = getelementptr float, float* %13, i64 %278
  %280 = load float, float* %279, align 4
  %281 = fmul reassoc ninf nsz float %factor.i.1, %257
  %282 = fadd reassoc ninf nsz float %281, %280
  store float %282, float* %279, align 4
  %283 = load float, float* %41, align 4
  %284 = load float, float* %260, align 4
  %285 = fmul reassoc ninf nsz float %284, %factor.i.1
  %286 = fadd reassoc ninf nsz float %285, %283
  store float %286, float* %41, align 4
  %287 = load float, float* %138, align 4
  %288 = fmul reassoc ninf nsz float %factor.i.1, %264
  %289 = fadd reassoc ninf nsz float %287, %288
  store float %289, float* %138, align 4
  %290 = load float, float* %42, align 4
  %291 = load float, float* %111, align 4
  %292 = fmul reassoc ninf nsz float %291, %factor.i.1
  %293 = fadd reassoc ninf nsz float %292, %290
  store float %293, float* %42, align 4
  %294 = load float, float* %148, align 4
  %295 = fmul reassoc ninf nsz float %factor.i.1, %268
  %296 = fadd reassoc ninf nsz float %294, %295
  store float %296, float* %148, align 4
  %297 = load float, float* %45, align 4
  %298 = load float, float* %118, align 4
  %299 = fmul reassoc ninf nsz float %298, %factor.i.1
  %300 = fadd reassoc ninf nsz float %299, %297
  store float %300, float* %45, align 4
  %301 = add i32 %166, 1
  %302 = sext i32 %301 to i64
  %303 = getelementptr float, float* %13, i64 %302
  %304 = load float, float* %303, align 4
  %305 = fmul reassoc ninf nsz float %factor.i.1, %242
  %306 = fadd reassoc ninf nsz float %304, %305
  store float %306, float* %303, align 4
  %307 = load float, float* %47, align 4
  %308 = load float, float* %245, align 4
  %309 = fmul reassoc ninf nsz float %308, %factor.i.1
  %310 = fadd reassoc ninf nsz float %309, %307
  store float %310, float* %47, align 4
  %311 = load float, float* %169, align 4
  %312 = fmul reassoc ninf nsz float %factor.i.1, %249
  %313 = fadd reassoc ninf nsz float %311, %312
  store float %313, float* %169, align 4
  %314 = load float, float* %50, align 4
  %315 = load float, float* %89, align 4
  %316 = fmul reassoc ninf nsz float %315, %factor.i.1
  %317 = fadd reassoc ninf nsz float %316, %314
  store float %317, float* %50, align 4
  %318 = load float, float* %179, align 4
  %319 = fmul reassoc ninf nsz float %factor.i.1, %253
  %320 = fadd reassoc ninf nsz float %318, %319
  store float %320, float* %179, align 4
  %321 = load float, float* %53, align 4
  %322 = load float, float* %96, align 4
  %323 = fmul reassoc ninf nsz float %322, %factor.i.1
  %324 = fadd reassoc ninf nsz float %323, %321
  store float %324, float* %53, align 4
  %325 = add i32 %197, 1
  %326 = sext i32 %325 to i64
  %327 = getelementptr float, float* %13, i64 %326
  %328 = load float, float* %327, align 4
  %329 = fmul reassoc ninf nsz float %factor.i.1, %228
  %330 = fadd reassoc ninf nsz float %328, %329
  store float %330, float* %327, align 4
  %331 = load float, float* %17, align 4
  %332 = load float, float* %231, align 4
  %333 = fmul reassoc ninf nsz float %332, %factor.i.1
  %334 = fadd reassoc ninf nsz float %333, %331
  store float %334, float* %17, align 4
  %335 = load float, float* %200, align 4
  %336 = fmul reassoc ninf nsz float %factor.i.1, %234
  %337 = fadd reassoc ninf nsz float %335, %336
  store float %337, float* %200, align 4
  %338 = load float, float* %54, align 4
  %339 = load float, float* %68, align 4
  %340 = fmul reassoc ninf nsz float %339, %factor.i.1
  %341 = fadd reassoc ninf nsz float %340, %338
  store float %341, float* %54, align 4
  %342 = load float, float* %210, align 4
  %343 = fmul reassoc ninf nsz float %factor.i.1, %238
  %344 = fadd reassoc ninf nsz float %342, %343
  store float %344, float* %210, align 4
  %345 = load float, float* %55, align 4
  %346 = load float, float* %74, align 4
  %347 = fmul reassoc ninf nsz float %346, %factor.i.1
  %348 = fadd reassoc ninf nsz float %347, %345
  store float %348, float* %55, align 4
  store float 0.000000e+00, float* %274, align 4
  %indvars.iv.next = add nsw i64 %indvars.iv, -2
  %lsr.iv.next67 = add nsw i64 %lsr.iv66, -2
  br label %for_loop_body1.i

after_for3.i:                                     ; preds = %for_loop_body1.i
  %349 = add nuw nsw i32 %.0130.i, 1
  %lsr.iv.next = sub i32 %lsr.iv, %3
  %lsr.iv.next55 = sub i32 %lsr.iv54, %3
  %lsr.iv.next57 = sub i32 %lsr.iv56, %3
  %lsr.iv.next59 = sub i32 %lsr.iv58, %11
  %lsr.iv.next61 = sub i32 %lsr.iv60, %11
  %lsr.iv.next63 = sub i32 %lsr.iv62, %11
  %lsr.iv.next65 = sub i32 %lsr.iv64, %19
  %exitcond131.not.i = icmp eq i32 %349, 4
  br i1 %exitcond131.not.i, label %convolution_in_two_axes_adjoint_body_1048589_0.exit, label %for_loop_body.i

convolution_in_two_axes_adjoint_body_1048589_0.exit: ; preds = %after_for3.i
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
