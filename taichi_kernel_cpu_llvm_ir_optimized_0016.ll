; ModuleID = 'kernel'
source_filename = "kernel"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

%struct.RuntimeContext.112 = type { i8*, %struct.LLVMRuntime.111*, i32, i64* }
%struct.LLVMRuntime.111 = type { %struct.PreallocatedMemoryChunk.106, %struct.PreallocatedMemoryChunk.106, i8* (i8*, i64, i64)*, void (i8*)*, void (i8*, ...)*, i32 (i8*, i64, i8*, %struct.__va_list_tag.107*)*, i8*, [512 x i8*], [512 x i64], i8*, void (i8*, i32, i32, i8*, void (i8*, i32, i32)*)*, [1024 x %struct.ListManager.108*], [1024 x %struct.NodeManager.109*], [1024 x i8*], i8*, %struct.RandState.110*, i8*, void (i8*, i8*)*, void (i8*)*, [2048 x i8], [32 x i64], i32, i64, i8*, i32, i32, i64 }
%struct.PreallocatedMemoryChunk.106 = type { i8*, i8*, i64 }
%struct.__va_list_tag.107 = type { i32, i32, i8*, i8* }
%struct.ListManager.108 = type { [131072 x i8*], i64, i64, i32, i32, i32, %struct.LLVMRuntime.111* }
%struct.NodeManager.109 = type <{ %struct.LLVMRuntime.111*, i32, i32, i32, i32, %struct.ListManager.108*, %struct.ListManager.108*, %struct.ListManager.108*, i32, [4 x i8] }>
%struct.RandState.110 = type { i32, i32, i32, i32, i32 }

; Function Attrs: nofree nosync nounwind
define void @sums_c16_0_kernel_0_serial(%struct.RuntimeContext.112* nocapture readonly %context) local_unnamed_addr #0 {
entry:
  %0 = bitcast %struct.RuntimeContext.112* %context to { { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* } }**
  %1 = load { { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* } }*, { { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* } }** %0, align 8
  %2 = getelementptr { { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* } }, { { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* } }* %1, i64 0, i32 0, i32 0, i32 0
  %3 = load i32, i32* %2, align 4
  %4 = getelementptr { { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* } }, { { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* } }* %1, i64 0, i32 0, i32 1
  %5 = load float*, float** %4, align 8
  %6 = getelementptr { { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* } }, { { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* } }* %1, i64 0, i32 1, i32 1
  %7 = load float*, float** %6, align 8
  %8 = getelementptr { { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* } }, { { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* } }* %1, i64 0, i32 2, i32 1
  %9 = load float*, float** %8, align 8
  %10 = getelementptr { { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* } }, { { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* } }* %1, i64 0, i32 3, i32 1
  %11 = load float*, float** %10, align 8
  %12 = add i32 %3, 31
  %13 = sdiv i32 %12, 32
  %14 = icmp slt i32 %12, 0
  %15 = shl nsw i32 %13, 5
  %16 = icmp ne i32 %15, %12
  %17 = and i1 %14, %16
  %.neg.i = sext i1 %17 to i32
  %18 = add nsw i32 %13, %.neg.i
  %19 = tail call i32 @llvm.smax.i32(i32 %18, i32 1)
  %20 = add i32 %3, -1
  %21 = add i32 %20, %19
  %22 = sdiv i32 %21, %19
  %23 = mul i32 %19, %22
  %24 = icmp slt i32 %21, 0
  %25 = icmp ne i32 %23, %21
  %26 = and i1 %24, %25
  %.neg85.i = sext i1 %26 to i32
  %27 = add i32 %22, %.neg85.i
  %28 = icmp sgt i32 %27, 0
  br i1 %28, label %for_loop_body.i.preheader, label %for_loop_test24.preheader.i

for_loop_body.i.preheader:                        ; preds = %entry
  %29 = mul i32 %19, 3
  %scevgep386 = getelementptr float, float* %7, i64 8
  br label %for_loop_body.i

for_loop_body.i:                                  ; preds = %for_loop_body.i.preheader, %after_for3.i
  %lsr.iv396 = phi i32 [ 64, %for_loop_body.i.preheader ], [ %lsr.iv.next397, %after_for3.i ]
  %lsr.iv393 = phi i32 [ %19, %for_loop_body.i.preheader ], [ %lsr.iv.next394, %after_for3.i ]
  %lsr.iv380 = phi i32 [ 47, %for_loop_body.i.preheader ], [ %lsr.iv.next381, %after_for3.i ]
  %indvars.iv127.i = phi i32 [ %indvars.iv.next128.i, %after_for3.i ], [ 0, %for_loop_body.i.preheader ]
  %.077109.i = phi i32 [ %483, %after_for3.i ], [ 0, %for_loop_body.i.preheader ]
  %30 = mul i32 %19, %.077109.i
  %31 = add i32 %19, %30
  %32 = add i32 %30, 64
  %33 = mul i32 %29, %.077109.i
  %34 = add i32 %33, 1
  %35 = add i32 %33, 2
  %36 = tail call i32 @llvm.smin.i32(i32 %31, i32 %3)
  %37 = sub i32 %36, %30
  %38 = add i32 %37, 63
  %39 = sdiv i32 %38, 64
  %40 = icmp slt i32 %38, 0
  %41 = shl nsw i32 %39, 6
  %42 = icmp ne i32 %41, %38
  %43 = and i1 %40, %42
  %.neg87.i = sext i1 %43 to i32
  %44 = add nsw i32 %39, %.neg87.i
  %45 = icmp sgt i32 %44, 0
  br i1 %45, label %for_loop_body1.i.preheader, label %after_for3.i

for_loop_body1.i.preheader:                       ; preds = %for_loop_body.i
  %46 = zext i32 %44 to i64
  br label %for_loop_body1.i

for_loop_body9.i.preheader:                       ; preds = %after_for3.i
  %47 = getelementptr float, float* %11, i64 2
  %48 = bitcast float* %11 to <2 x float>*
  br label %for_loop_body9.i

for_loop_body1.i:                                 ; preds = %for_loop_body1.i.preheader, %after_for7.i
  %indvars.iv417 = phi i64 [ 0, %for_loop_body1.i.preheader ], [ %indvars.iv.next418, %after_for7.i ]
  %lsr.iv398 = phi i32 [ %lsr.iv396, %for_loop_body1.i.preheader ], [ %lsr.iv.next399, %after_for7.i ]
  %lsr.iv382 = phi i32 [ %lsr.iv380, %for_loop_body1.i.preheader ], [ %lsr.iv.next383, %after_for7.i ]
  %indvars.iv129.i = phi i32 [ %indvars.iv.next130.i, %after_for7.i ], [ %indvars.iv127.i, %for_loop_body1.i.preheader ]
  %.079107.i = phi double [ %505, %after_for7.i ], [ 0.000000e+00, %for_loop_body1.i.preheader ]
  %49 = sext i32 %indvars.iv129.i to i64
  %scevgep387 = getelementptr float, float* %scevgep386, i64 %49
  %smin395 = call i32 @llvm.smin.i32(i32 %3, i32 %lsr.iv393)
  %smin400 = call i32 @llvm.smin.i32(i32 %smin395, i32 %lsr.iv398)
  %50 = sext i32 %smin400 to i64
  %51 = add i64 %50, -8
  %52 = sub i64 %51, %49
  %53 = lshr i64 %52, 3
  %54 = add nuw nsw i64 %53, 1
  %55 = lshr i64 %54, 1
  %56 = shl nuw nsw i64 %55, 1
  %57 = trunc i64 %indvars.iv417 to i32
  %58 = shl i32 %57, 6
  %59 = add i32 %32, %58
  %smin123 = call i32 @llvm.smin.i32(i32 %36, i32 %59)
  %60 = sext i32 %smin123 to i64
  %61 = add i32 %30, %58
  %62 = sext i32 %61 to i64
  %63 = sub nsw i64 %60, %62
  %64 = add nsw i64 %63, -8
  %65 = lshr i64 %64, 3
  %66 = add nuw nsw i64 %65, 1
  %67 = xor i32 %61, -1
  %68 = sext i32 %67 to i64
  %69 = add nsw i64 %68, %60
  %70 = mul i32 %57, 192
  %71 = add i32 %33, %70
  %72 = add i32 %34, %70
  %73 = add i32 %35, %70
  %74 = add i32 %61, 64
  %75 = tail call i32 @llvm.smin.i32(i32 %74, i32 %36)
  %76 = icmp slt i32 %61, %75
  br i1 %76, label %for_loop_body5.lr.ph.i, label %after_for7.i

for_loop_body5.lr.ph.i:                           ; preds = %for_loop_body1.i
  %77 = sext i32 %75 to i64
  %min.iters.check = icmp ult i64 %63, 16
  br i1 %min.iters.check, label %for_loop_body5.i.preheader, label %vector.scevcheck

vector.scevcheck:                                 ; preds = %for_loop_body5.lr.ph.i
  %78 = trunc i64 %69 to i32
  %mul = call { i32, i1 } @llvm.umul.with.overflow.i32(i32 %78, i32 3)
  %mul.result = extractvalue { i32, i1 } %mul, 0
  %mul.overflow = extractvalue { i32, i1 } %mul, 1
  %79 = add i32 %71, %mul.result
  %80 = icmp slt i32 %79, %71
  %81 = or i1 %80, %mul.overflow
  %82 = add i32 %72, %mul.result
  %83 = icmp slt i32 %82, %72
  %84 = or i1 %83, %mul.overflow
  %85 = icmp ugt i64 %69, 4294967295
  %86 = or i1 %84, %85
  %87 = add i32 %73, %mul.result
  %88 = icmp slt i32 %87, %73
  %89 = or i1 %88, %mul.overflow
  %90 = or i1 %81, %86
  %91 = or i1 %89, %90
  br i1 %91, label %for_loop_body5.i.preheader, label %vector.ph

vector.ph:                                        ; preds = %vector.scevcheck
  %n.vec = and i64 %63, -8
  %ind.end = add nsw i64 %n.vec, %49
  %xtraiter124 = and i64 %66, 1
  %92 = icmp ult i64 %64, 8
  br i1 %92, label %middle.block.unr-lcssa, label %vector.ph.new

vector.ph.new:                                    ; preds = %vector.ph
  br label %vector.body

vector.body:                                      ; preds = %vector.body, %vector.ph.new
  %lsr.iv401 = phi i64 [ %lsr.iv.next402, %vector.body ], [ %56, %vector.ph.new ]
  %lsr.iv384 = phi i32 [ %lsr.iv.next385, %vector.body ], [ %lsr.iv382, %vector.ph.new ]
  %index = phi i64 [ 0, %vector.ph.new ], [ %index.next.1, %vector.body ]
  %vec.phi = phi <8 x float> [ zeroinitializer, %vector.ph.new ], [ %345, %vector.body ]
  %93 = add i32 %lsr.iv384, -47
  %94 = add i32 %lsr.iv384, -44
  %95 = add i32 %lsr.iv384, -41
  %96 = add i32 %lsr.iv384, -38
  %97 = add i32 %lsr.iv384, -35
  %98 = add i32 %lsr.iv384, -32
  %99 = add i32 %lsr.iv384, -29
  %100 = add i32 %lsr.iv384, -26
  %101 = sext i32 %93 to i64
  %102 = sext i32 %94 to i64
  %103 = sext i32 %95 to i64
  %104 = sext i32 %96 to i64
  %105 = sext i32 %97 to i64
  %106 = sext i32 %98 to i64
  %107 = sext i32 %99 to i64
  %108 = sext i32 %100 to i64
  %109 = getelementptr float, float* %5, i64 %101
  %110 = getelementptr float, float* %5, i64 %102
  %111 = getelementptr float, float* %5, i64 %103
  %112 = getelementptr float, float* %5, i64 %104
  %113 = getelementptr float, float* %5, i64 %105
  %114 = getelementptr float, float* %5, i64 %106
  %115 = getelementptr float, float* %5, i64 %107
  %116 = getelementptr float, float* %5, i64 %108
  %117 = load float, float* %109, align 4
  %118 = load float, float* %110, align 4
  %119 = load float, float* %111, align 4
  %120 = load float, float* %112, align 4
  %121 = load float, float* %113, align 4
  %122 = load float, float* %114, align 4
  %123 = load float, float* %115, align 4
  %124 = load float, float* %116, align 4
  %125 = insertelement <8 x float> poison, float %117, i64 0
  %126 = insertelement <8 x float> %125, float %118, i64 1
  %127 = insertelement <8 x float> %126, float %119, i64 2
  %128 = insertelement <8 x float> %127, float %120, i64 3
  %129 = insertelement <8 x float> %128, float %121, i64 4
  %130 = insertelement <8 x float> %129, float %122, i64 5
  %131 = insertelement <8 x float> %130, float %123, i64 6
  %132 = insertelement <8 x float> %131, float %124, i64 7
  %133 = add i32 %lsr.iv384, -46
  %134 = add i32 %lsr.iv384, -43
  %135 = add i32 %lsr.iv384, -40
  %136 = add i32 %lsr.iv384, -37
  %137 = add i32 %lsr.iv384, -34
  %138 = add i32 %lsr.iv384, -31
  %139 = add i32 %lsr.iv384, -28
  %140 = add i32 %lsr.iv384, -25
  %141 = sext i32 %133 to i64
  %142 = sext i32 %134 to i64
  %143 = sext i32 %135 to i64
  %144 = sext i32 %136 to i64
  %145 = sext i32 %137 to i64
  %146 = sext i32 %138 to i64
  %147 = sext i32 %139 to i64
  %148 = sext i32 %140 to i64
  %149 = getelementptr float, float* %5, i64 %141
  %150 = getelementptr float, float* %5, i64 %142
  %151 = getelementptr float, float* %5, i64 %143
  %152 = getelementptr float, float* %5, i64 %144
  %153 = getelementptr float, float* %5, i64 %145
  %154 = getelementptr float, float* %5, i64 %146
  %155 = getelementptr float, float* %5, i64 %147
  %156 = getelementptr float, float* %5, i64 %148
  %157 = load float, float* %149, align 4
  %158 = load float, float* %150, align 4
  %159 = load float, float* %151, align 4
  %160 = load float, float* %152, align 4
  %161 = load float, float* %153, align 4
  %162 = load float, float* %154, align 4
  %163 = load float, float* %155, align 4
  %164 = load float, float* %156, align 4
  %165 = insertelement <8 x float> poison, float %157, i64 0
  %166 = insertelement <8 x float> %165, float %158, i64 1
  %167 = insertelement <8 x float> %166, float %159, i64 2
  %168 = insertelement <8 x float> %167, float %160, i64 3
  %169 = insertelement <8 x float> %168, float %161, i64 4
  %170 = insertelement <8 x float> %169, float %162, i64 5
  %171 = insertelement <8 x float> %170, float %163, i64 6
  %172 = insertelement <8 x float> %171, float %164, i64 7
  %173 = add i32 %lsr.iv384, -45
  %174 = add i32 %lsr.iv384, -42
  %175 = add i32 %lsr.iv384, -39
  %176 = add i32 %lsr.iv384, -36
  %177 = add i32 %lsr.iv384, -33
  %178 = add i32 %lsr.iv384, -30
  %179 = add i32 %lsr.iv384, -27
  %180 = add i32 %lsr.iv384, -24
  %181 = sext i32 %173 to i64
  %182 = sext i32 %174 to i64
  %183 = sext i32 %175 to i64
  %184 = sext i32 %176 to i64
  %185 = sext i32 %177 to i64
  %186 = sext i32 %178 to i64
  %187 = sext i32 %179 to i64
  %188 = sext i32 %180 to i64
  %189 = getelementptr float, float* %5, i64 %181
  %190 = getelementptr float, float* %5, i64 %182
  %191 = getelementptr float, float* %5, i64 %183
  %192 = getelementptr float, float* %5, i64 %184
  %193 = getelementptr float, float* %5, i64 %185
  %194 = getelementptr float, float* %5, i64 %186
  %195 = getelementptr float, float* %5, i64 %187
  %196 = getelementptr float, float* %5, i64 %188
  %197 = load float, float* %189, align 4
  %198 = load float, float* %190, align 4
  %199 = load float, float* %191, align 4
  %200 = load float, float* %192, align 4
  %201 = load float, float* %193, align 4
  %202 = load float, float* %194, align 4
  %203 = load float, float* %195, align 4
  %204 = load float, float* %196, align 4
  %205 = insertelement <8 x float> poison, float %197, i64 0
  %206 = insertelement <8 x float> %205, float %198, i64 1
  %207 = insertelement <8 x float> %206, float %199, i64 2
  %208 = insertelement <8 x float> %207, float %200, i64 3
  %209 = insertelement <8 x float> %208, float %201, i64 4
  %210 = insertelement <8 x float> %209, float %202, i64 5
  %211 = insertelement <8 x float> %210, float %203, i64 6
  %212 = insertelement <8 x float> %211, float %204, i64 7
  %scevgep390 = getelementptr float, float* %scevgep387, i64 %index
  %scevgep390391 = bitcast float* %scevgep390 to <8 x float>*
  %scevgep392 = getelementptr <8 x float>, <8 x float>* %scevgep390391, i64 -1
  %wide.load = load <8 x float>, <8 x float>* %scevgep392, align 4
  %213 = fmul reassoc ninf nsz <8 x float> %132, %132
  %214 = fmul reassoc ninf nsz <8 x float> %172, %172
  %215 = fadd reassoc ninf nsz <8 x float> %214, %213
  %216 = fmul reassoc ninf nsz <8 x float> %212, %212
  %217 = fadd reassoc ninf nsz <8 x float> %215, %216
  %218 = fmul reassoc ninf nsz <8 x float> %217, %wide.load
  %219 = fadd reassoc ninf nsz <8 x float> %218, %vec.phi
  %220 = add i32 %lsr.iv384, -23
  %221 = add i32 %lsr.iv384, -20
  %222 = add i32 %lsr.iv384, -17
  %223 = add i32 %lsr.iv384, -14
  %224 = add i32 %lsr.iv384, -11
  %225 = add i32 %lsr.iv384, -8
  %226 = add i32 %lsr.iv384, -5
  %227 = add i32 %lsr.iv384, -2
  %228 = sext i32 %220 to i64
  %229 = sext i32 %221 to i64
  %230 = sext i32 %222 to i64
  %231 = sext i32 %223 to i64
  %232 = sext i32 %224 to i64
  %233 = sext i32 %225 to i64
  %234 = sext i32 %226 to i64
  %235 = sext i32 %227 to i64
  %236 = getelementptr float, float* %5, i64 %228
  %237 = getelementptr float, float* %5, i64 %229
  %238 = getelementptr float, float* %5, i64 %230
  %239 = getelementptr float, float* %5, i64 %231
  %240 = getelementptr float, float* %5, i64 %232
  %241 = getelementptr float, float* %5, i64 %233
  %242 = getelementptr float, float* %5, i64 %234
  %243 = getelementptr float, float* %5, i64 %235
  %244 = load float, float* %236, align 4
  %245 = load float, float* %237, align 4
  %246 = load float, float* %238, align 4
  %247 = load float, float* %239, align 4
  %248 = load float, float* %240, align 4
  %249 = load float, float* %241, align 4
  %250 = load float, float* %242, align 4
  %251 = load float, float* %243, align 4
  %252 = insertelement <8 x float> poison, float %244, i64 0
  %253 = insertelement <8 x float> %252, float %245, i64 1
  %254 = insertelement <8 x float> %253, float %246, i64 2
  %255 = insertelement <8 x float> %254, float %247, i64 3
  %256 = insertelement <8 x float> %255, float %248, i64 4
  %257 = insertelement <8 x float> %256, float %249, i64 5
  %258 = insertelement <8 x float> %257, float %250, i64 6
  %259 = insertelement <8 x float> %258, float %251, i64 7
  %260 = add i32 %lsr.iv384, -22
  %261 = add i32 %lsr.iv384, -19
  %262 = add i32 %lsr.iv384, -16
  %263 = add i32 %lsr.iv384, -13
  %264 = add i32 %lsr.iv384, -10
  %265 = add i32 %lsr.iv384, -7
  %266 = add i32 %lsr.iv384, -4
  %267 = add i32 %lsr.iv384, -1
  %268 = sext i32 %260 to i64
  %269 = sext i32 %261 to i64
  %270 = sext i32 %262 to i64
  %271 = sext i32 %263 to i64
  %272 = sext i32 %264 to i64
  %273 = sext i32 %265 to i64
  %274 = sext i32 %266 to i64
  %275 = sext i32 %267 to i64
  %276 = getelementptr float, float* %5, i64 %268
  %277 = getelementptr float, float* %5, i64 %269
  %278 = getelementptr float, float* %5, i64 %270
  %279 = getelementptr float, float* %5, i64 %271
  %280 = getelementptr float, float* %5, i64 %272
  %281 = getelementptr float, float* %5, i64 %273
  %282 = getelementptr float, float* %5, i64 %274
  %283 = getelementptr float, float* %5, i64 %275
  %284 = load float, float* %276, align 4
  %285 = load float, float* %277, align 4
  %286 = load float, float* %278, align 4
  %287 = load float, float* %279, align 4
  %288 = load float, float* %280, align 4
  %289 = load float, float* %281, align 4
  %290 = load float, float* %282, align 4
  %291 = load float, float* %283, align 4
  %292 = insertelement <8 x float> poison, float %284, i64 0
  %293 = insertelement <8 x float> %292, float %285, i64 1
  %294 = insertelement <8 x float> %293, float %286, i64 2
  %295 = insertelement <8 x float> %294, float %287, i64 3
  %296 = insertelement <8 x float> %295, float %288, i64 4
  %297 = insertelement <8 x float> %296, float %289, i64 5
  %298 = insertelement <8 x float> %297, float %290, i64 6
  %299 = insertelement <8 x float> %298, float %291, i64 7
  %300 = add i32 %lsr.iv384, -21
  %301 = add i32 %lsr.iv384, -18
  %302 = add i32 %lsr.iv384, -15
  %303 = add i32 %lsr.iv384, -12
  %304 = add i32 %lsr.iv384, -9
  %305 = add i32 %lsr.iv384, -6
  %306 = add i32 %lsr.iv384, -3
  %307 = sext i32 %300 to i64
  %308 = sext i32 %301 to i64
  %309 = sext i32 %302 to i64
  %310 = sext i32 %303 to i64
  %311 = sext i32 %304 to i64
  %312 = sext i32 %305 to i64
  %313 = sext i32 %306 to i64
  %314 = sext i32 %lsr.iv384 to i64
  %315 = getelementptr float, float* %5, i64 %307
  %316 = getelementptr float, float* %5, i64 %308
  %317 = getelementptr float, float* %5, i64 %309
  %318 = getelementptr float, float* %5, i64 %310
  %319 = getelementptr float, float* %5, i64 %311
  %320 = getelementptr float, float* %5, i64 %312
  %321 = getelementptr float, float* %5, i64 %313
  %322 = getelementptr float, float* %5, i64 %314
  %323 = load float, float* %315, align 4
  %324 = load float, float* %316, align 4
  %325 = load float, float* %317, align 4
  %326 = load float, float* %318, align 4
  %327 = load float, float* %319, align 4
  %328 = load float, float* %320, align 4
  %329 = load float, float* %321, align 4
  %330 = load float, float* %322, align 4
  %331 = insertelement <8 x float> poison, float %323, i64 0
  %332 = insertelement <8 x float> %331, float %324, i64 1
  %333 = insertelement <8 x float> %332, float %325, i64 2
  %334 = insertelement <8 x float> %333, float %326, i64 3
  %335 = insertelement <8 x float> %334, float %327, i64 4
  %336 = insertelement <8 x float> %335, float %328, i64 5
  %337 = insertelement <8 x float> %336, float %329, i64 6
  %338 = insertelement <8 x float> %337, float %330, i64 7
  %wide.load.1 = load <8 x float>, <8 x float>* %scevgep390391, align 4
  %339 = fmul reassoc ninf nsz <8 x float> %259, %259
  %340 = fmul reassoc ninf nsz <8 x float> %299, %299
  %341 = fadd reassoc ninf nsz <8 x float> %340, %339
  %342 = fmul reassoc ninf nsz <8 x float> %338, %338
  %343 = fadd reassoc ninf nsz <8 x float> %341, %342
  %344 = fmul reassoc ninf nsz <8 x float> %343, %wide.load.1
  %345 = fadd reassoc ninf nsz <8 x float> %344, %219
  %index.next.1 = add i64 %index, 16
  %lsr.iv.next385 = add i32 %lsr.iv384, 48
  %lsr.iv.next402 = add i64 %lsr.iv401, -2
  %niter129.ncmp.1 = icmp eq i64 %lsr.iv.next402, 0
  br i1 %niter129.ncmp.1, label %middle.block.unr-lcssa.loopexit, label %vector.body, !llvm.loop !6

middle.block.unr-lcssa.loopexit:                  ; preds = %vector.body
  br label %middle.block.unr-lcssa

middle.block.unr-lcssa:                           ; preds = %middle.block.unr-lcssa.loopexit, %vector.ph
  %.lcssa109.ph = phi <8 x float> [ undef, %vector.ph ], [ %345, %middle.block.unr-lcssa.loopexit ]
  %index.unr = phi i64 [ 0, %vector.ph ], [ %index.next.1, %middle.block.unr-lcssa.loopexit ]
  %vec.phi.unr = phi <8 x float> [ zeroinitializer, %vector.ph ], [ %345, %middle.block.unr-lcssa.loopexit ]
  %lcmp.mod126.not = icmp eq i64 %xtraiter124, 0
  br i1 %lcmp.mod126.not, label %middle.block, label %vector.body.epil

vector.body.epil:                                 ; preds = %middle.block.unr-lcssa
  %346 = trunc i64 %index.unr to i32
  %347 = add i32 %indvars.iv129.i, %346
  %offset.idx46.epil = add i64 %index.unr, %49
  %348 = mul i32 %347, 3
  %349 = add i32 %348, 3
  %350 = add i32 %348, 6
  %351 = add i32 %348, 9
  %352 = add i32 %348, 12
  %353 = add i32 %348, 15
  %354 = add i32 %348, 18
  %355 = add i32 %348, 21
  %356 = sext i32 %348 to i64
  %357 = sext i32 %349 to i64
  %358 = sext i32 %350 to i64
  %359 = sext i32 %351 to i64
  %360 = sext i32 %352 to i64
  %361 = sext i32 %353 to i64
  %362 = sext i32 %354 to i64
  %363 = sext i32 %355 to i64
  %364 = getelementptr float, float* %5, i64 %356
  %365 = getelementptr float, float* %5, i64 %357
  %366 = getelementptr float, float* %5, i64 %358
  %367 = getelementptr float, float* %5, i64 %359
  %368 = getelementptr float, float* %5, i64 %360
  %369 = getelementptr float, float* %5, i64 %361
  %370 = getelementptr float, float* %5, i64 %362
  %371 = getelementptr float, float* %5, i64 %363
  %372 = load float, float* %364, align 4
  %373 = load float, float* %365, align 4
  %374 = load float, float* %366, align 4
  %375 = load float, float* %367, align 4
  %376 = load float, float* %368, align 4
  %377 = load float, float* %369, align 4
  %378 = load float, float* %370, align 4
  %379 = load float, float* %371, align 4
  %380 = insertelement <8 x float> poison, float %372, i64 0
  %381 = insertelement <8 x float> %380, float %373, i64 1
  %382 = insertelement <8 x float> %381, float %374, i64 2
  %383 = insertelement <8 x float> %382, float %375, i64 3
  %384 = insertelement <8 x float> %383, float %376, i64 4
  %385 = insertelement <8 x float> %384, float %377, i64 5
  %386 = insertelement <8 x float> %385, float %378, i64 6
  %387 = insertelement <8 x float> %386, float %379, i64 7
  %388 = add i32 %348, 1
  %389 = add i32 %348, 4
  %390 = add i32 %348, 7
  %391 = add i32 %348, 10
  %392 = add i32 %348, 13
  %393 = add i32 %348, 16
  %394 = add i32 %348, 19
  %395 = add i32 %348, 22
  %396 = sext i32 %388 to i64
  %397 = sext i32 %389 to i64
  %398 = sext i32 %390 to i64
  %399 = sext i32 %391 to i64
  %400 = sext i32 %392 to i64
  %401 = sext i32 %393 to i64
  %402 = sext i32 %394 to i64
  %403 = sext i32 %395 to i64
  %404 = getelementptr float, float* %5, i64 %396
  %405 = getelementptr float, float* %5, i64 %397
  %406 = getelementptr float, float* %5, i64 %398
  %407 = getelementptr float, float* %5, i64 %399
  %408 = getelementptr float, float* %5, i64 %400
  %409 = getelementptr float, float* %5, i64 %401
  %410 = getelementptr float, float* %5, i64 %402
  %411 = getelementptr float, float* %5, i64 %403
  %412 = load float, float* %404, align 4
  %413 = load float, float* %405, align 4
  %414 = load float, float* %406, align 4
  %415 = load float, float* %407, align 4
  %416 = load float, float* %408, align 4
  %417 = load float, float* %409, align 4
  %418 = load float, float* %410, align 4
  %419 = load float, float* %411, align 4
  %420 = insertelement <8 x float> poison, float %412, i64 0
  %421 = insertelement <8 x float> %420, float %413, i64 1
  %422 = insertelement <8 x float> %421, float %414, i64 2
  %423 = insertelement <8 x float> %422, float %415, i64 3
  %424 = insertelement <8 x float> %423, float %416, i64 4
  %425 = insertelement <8 x float> %424, float %417, i64 5
  %426 = insertelement <8 x float> %425, float %418, i64 6
  %427 = insertelement <8 x float> %426, float %419, i64 7
  %428 = add i32 %348, 2
  %429 = add i32 %348, 5
  %430 = add i32 %348, 8
  %431 = add i32 %348, 11
  %432 = add i32 %348, 14
  %433 = add i32 %348, 17
  %434 = add i32 %348, 20
  %435 = add i32 %348, 23
  %436 = sext i32 %428 to i64
  %437 = sext i32 %429 to i64
  %438 = sext i32 %430 to i64
  %439 = sext i32 %431 to i64
  %440 = sext i32 %432 to i64
  %441 = sext i32 %433 to i64
  %442 = sext i32 %434 to i64
  %443 = sext i32 %435 to i64
  %444 = getelementptr float, float* %5, i64 %436
  %445 = getelementptr float, float* %5, i64 %437
  %446 = getelementptr float, float* %5, i64 %438
  %447 = getelementptr float, float* %5, i64 %439
  %448 = getelementptr float, float* %5, i64 %440
  %449 = getelementptr float, float* %5, i64 %441
  %450 = getelementptr float, float* %5, i64 %442
  %451 = getelementptr float, float* %5, i64 %443
  %452 = load float, float* %444, align 4
  %453 = load float, float* %445, align 4
  %454 = load float, float* %446, align 4
  %455 = load float, float* %447, align 4
  %456 = load float, float* %448, align 4
  %457 = load float, float* %449, align 4
  %458 = load float, float* %450, align 4
  %459 = load float, float* %451, align 4
  %460 = insertelement <8 x float> poison, float %452, i64 0
  %461 = insertelement <8 x float> %460, float %453, i64 1
  %462 = insertelement <8 x float> %461, float %454, i64 2
  %463 = insertelement <8 x float> %462, float %455, i64 3
  %464 = insertelement <8 x float> %463, float %456, i64 4
  %465 = insertelement <8 x float> %464, float %457, i64 5
  %466 = insertelement <8 x float> %465, float %458, i64 6
  %467 = insertelement <8 x float> %466, float %459, i64 7
  %468 = getelementptr float, float* %7, i64 %offset.idx46.epil
  %469 = bitcast float* %468 to <8 x float>*
  %wide.load.epil = load <8 x float>, <8 x float>* %469, align 4
  %470 = fmul reassoc ninf nsz <8 x float> %387, %387
  %471 = fmul reassoc ninf nsz <8 x float> %427, %427
  %472 = fadd reassoc ninf nsz <8 x float> %471, %470
  %473 = fmul reassoc ninf nsz <8 x float> %467, %467
  %474 = fadd reassoc ninf nsz <8 x float> %472, %473
  %475 = fmul reassoc ninf nsz <8 x float> %474, %wide.load.epil
  %476 = fadd reassoc ninf nsz <8 x float> %475, %vec.phi.unr
  br label %middle.block

middle.block:                                     ; preds = %middle.block.unr-lcssa, %vector.body.epil
  %.lcssa109 = phi <8 x float> [ %.lcssa109.ph, %middle.block.unr-lcssa ], [ %476, %vector.body.epil ]
  %477 = call reassoc ninf nsz float @llvm.vector.reduce.fadd.v8f32(float -0.000000e+00, <8 x float> %.lcssa109)
  %cmp.n = icmp eq i64 %63, %n.vec
  br i1 %cmp.n, label %after_for7.i, label %for_loop_body5.i.preheader

for_loop_body5.i.preheader:                       ; preds = %vector.scevcheck, %for_loop_body5.lr.ph.i, %middle.block
  %indvars.iv131.i.ph = phi i64 [ %49, %vector.scevcheck ], [ %49, %for_loop_body5.lr.ph.i ], [ %ind.end, %middle.block ]
  %.081103.i.ph = phi float [ 0.000000e+00, %vector.scevcheck ], [ 0.000000e+00, %for_loop_body5.lr.ph.i ], [ %477, %middle.block ]
  %478 = trunc i64 %indvars.iv131.i.ph to i32
  %479 = mul i32 %478, 3
  br label %for_loop_body5.i

after_for3.i.loopexit:                            ; preds = %after_for7.i
  br label %after_for3.i

after_for3.i:                                     ; preds = %after_for3.i.loopexit, %for_loop_body.i
  %.079.lcssa.i = phi double [ 0.000000e+00, %for_loop_body.i ], [ %505, %after_for3.i.loopexit ]
  %480 = load float, float* %9, align 4
  %481 = fptrunc double %.079.lcssa.i to float
  %482 = fadd reassoc ninf nsz float %480, %481
  store float %482, float* %9, align 4
  %483 = add nuw nsw i32 %.077109.i, 1
  %indvars.iv.next128.i = add i32 %indvars.iv127.i, %19
  %lsr.iv.next381 = add i32 %lsr.iv380, %29
  %lsr.iv.next394 = add i32 %lsr.iv393, %19
  %lsr.iv.next397 = add i32 %lsr.iv396, %19
  %exitcond135.not.i = icmp eq i32 %483, %27
  br i1 %exitcond135.not.i, label %for_loop_body9.i.preheader, label %for_loop_body.i

for_loop_body5.i:                                 ; preds = %for_loop_body5.i.preheader, %for_loop_body5.i
  %lsr.iv404 = phi i32 [ %479, %for_loop_body5.i.preheader ], [ %lsr.iv.next405, %for_loop_body5.i ]
  %indvars.iv131.i = phi i64 [ %indvars.iv.next132.i, %for_loop_body5.i ], [ %indvars.iv131.i.ph, %for_loop_body5.i.preheader ]
  %.081103.i = phi float [ %502, %for_loop_body5.i ], [ %.081103.i.ph, %for_loop_body5.i.preheader ]
  %484 = sext i32 %lsr.iv404 to i64
  %485 = getelementptr float, float* %5, i64 %484
  %486 = load float, float* %485, align 4
  %487 = add i32 %lsr.iv404, 1
  %488 = sext i32 %487 to i64
  %489 = getelementptr float, float* %5, i64 %488
  %490 = load float, float* %489, align 4
  %491 = add i32 %lsr.iv404, 2
  %492 = sext i32 %491 to i64
  %493 = getelementptr float, float* %5, i64 %492
  %494 = load float, float* %493, align 4
  %scevgep403 = getelementptr float, float* %7, i64 %indvars.iv131.i
  %495 = load float, float* %scevgep403, align 4
  %496 = fmul reassoc ninf nsz float %486, %486
  %497 = fmul reassoc ninf nsz float %490, %490
  %498 = fadd reassoc ninf nsz float %497, %496
  %499 = fmul reassoc ninf nsz float %494, %494
  %500 = fadd reassoc ninf nsz float %498, %499
  %501 = fmul reassoc ninf nsz float %500, %495
  %502 = fadd reassoc ninf nsz float %501, %.081103.i
  %indvars.iv.next132.i = add nsw i64 %indvars.iv131.i, 1
  %lsr.iv.next405 = add i32 %lsr.iv404, 3
  %503 = icmp slt i64 %indvars.iv.next132.i, %77
  br i1 %503, label %for_loop_body5.i, label %after_for7.i.loopexit, !llvm.loop !8

after_for7.i.loopexit:                            ; preds = %for_loop_body5.i
  br label %after_for7.i

after_for7.i:                                     ; preds = %after_for7.i.loopexit, %middle.block, %for_loop_body1.i
  %.081.lcssa.i = phi float [ 0.000000e+00, %for_loop_body1.i ], [ %477, %middle.block ], [ %502, %after_for7.i.loopexit ]
  %504 = fpext float %.081.lcssa.i to double
  %505 = fadd reassoc ninf nsz double %.079107.i, %504
  %indvars.iv.next418 = add nuw nsw i64 %indvars.iv417, 1
  %indvars.iv.next130.i = add i32 %indvars.iv129.i, 64
  %lsr.iv.next383 = add i32 %lsr.iv382, 192
  %lsr.iv.next399 = add i32 %lsr.iv398, 64
  %exitcond134.not.i = icmp eq i64 %indvars.iv.next418, %46
  br i1 %exitcond134.not.i, label %after_for3.i.loopexit, label %for_loop_body1.i

for_loop_body9.i:                                 ; preds = %for_loop_body9.i.preheader, %after_for15.i
  %lsr.iv370 = phi i32 [ 64, %for_loop_body9.i.preheader ], [ %lsr.iv.next371, %after_for15.i ]
  %lsr.iv367 = phi i32 [ %19, %for_loop_body9.i.preheader ], [ %lsr.iv.next368, %after_for15.i ]
  %lsr.iv354 = phi i32 [ 47, %for_loop_body9.i.preheader ], [ %lsr.iv.next355, %after_for15.i ]
  %indvars.iv118.i = phi i32 [ %indvars.iv.next119.i, %after_for15.i ], [ 0, %for_loop_body9.i.preheader ]
  %.078102.i = phi i32 [ %1008, %after_for15.i ], [ 0, %for_loop_body9.i.preheader ]
  %506 = mul i32 %19, %.078102.i
  %507 = add i32 %19, %506
  %508 = add i32 %506, 64
  %509 = mul i32 %29, %.078102.i
  %510 = add i32 %509, 1
  %511 = add i32 %509, 2
  %512 = tail call i32 @llvm.smin.i32(i32 %507, i32 %3)
  %513 = sub i32 %512, %506
  %514 = add i32 %513, 63
  %515 = sdiv i32 %514, 64
  %516 = icmp slt i32 %514, 0
  %517 = shl nsw i32 %515, 6
  %518 = icmp ne i32 %517, %514
  %519 = and i1 %516, %518
  %.neg86.i = sext i1 %519 to i32
  %520 = add nsw i32 %515, %.neg86.i
  %521 = icmp sgt i32 %520, 0
  br i1 %521, label %for_loop_body13.i.preheader, label %after_for15.i

for_loop_body13.i.preheader:                      ; preds = %for_loop_body9.i
  %522 = zext i32 %520 to i64
  br label %for_loop_body13.i

for_loop_test24.preheader.i.loopexit:             ; preds = %after_for15.i
  br label %for_loop_test24.preheader.i

for_loop_test24.preheader.i:                      ; preds = %for_loop_test24.preheader.i.loopexit, %entry
  %523 = icmp sgt i32 %3, 0
  br i1 %523, label %for_loop_body21.lr.ph.i, label %sums_body_1048592_0.exit

for_loop_body21.lr.ph.i:                          ; preds = %for_loop_test24.preheader.i
  %524 = sitofp i32 %3 to float
  %525 = fadd reassoc ninf nsz float %524, 2.000000e+00
  %wide.trip.count.i = zext i32 %3 to i64
  %min.iters.check84 = icmp ult i32 %3, 32
  br i1 %min.iters.check84, label %for_loop_body21.i.preheader, label %vector.ph85

vector.ph85:                                      ; preds = %for_loop_body21.lr.ph.i
  %n.vec87 = and i64 %wide.trip.count.i, 4294967264
  %broadcast.splatinsert = insertelement <8 x float> poison, float %525, i64 0
  %broadcast.splat = shufflevector <8 x float> %broadcast.splatinsert, <8 x float> poison, <8 x i32> zeroinitializer
  %526 = add nsw i64 %n.vec87, -32
  %527 = lshr exact i64 %526, 5
  %528 = add nuw nsw i64 %527, 1
  %xtraiter = and i64 %528, 7
  %529 = icmp ult i64 %526, 224
  br i1 %529, label %middle.block82.unr-lcssa, label %vector.ph85.new

vector.ph85.new:                                  ; preds = %vector.ph85
  %unroll_iter = and i64 %528, 1152921504606846968
  %scevgep161 = getelementptr float, float* %7, i64 248
  br label %vector.body90

vector.body90:                                    ; preds = %vector.body90, %vector.ph85.new
  %lsr.iv352 = phi i64 [ %lsr.iv.next353, %vector.body90 ], [ %unroll_iter, %vector.ph85.new ]
  %index91 = phi i64 [ 0, %vector.ph85.new ], [ %index.next102.7, %vector.body90 ]
  %scevgep328 = getelementptr float, float* %scevgep161, i64 %index91
  %scevgep328329 = bitcast float* %scevgep328 to <8 x float>*
  %scevgep330 = getelementptr <8 x float>, <8 x float>* %scevgep328329, i64 -31
  %wide.load92 = load <8 x float>, <8 x float>* %scevgep330, align 4
  %scevgep351 = getelementptr <8 x float>, <8 x float>* %scevgep328329, i64 -30
  %wide.load93 = load <8 x float>, <8 x float>* %scevgep351, align 4
  %scevgep345 = getelementptr <8 x float>, <8 x float>* %scevgep328329, i64 -29
  %wide.load94 = load <8 x float>, <8 x float>* %scevgep345, align 4
  %scevgep339 = getelementptr <8 x float>, <8 x float>* %scevgep328329, i64 -28
  %wide.load95 = load <8 x float>, <8 x float>* %scevgep339, align 4
  %530 = fdiv reassoc ninf nsz <8 x float> %wide.load92, %broadcast.splat
  %531 = fdiv reassoc ninf nsz <8 x float> %wide.load93, %broadcast.splat
  %532 = fdiv reassoc ninf nsz <8 x float> %wide.load94, %broadcast.splat
  %533 = fdiv reassoc ninf nsz <8 x float> %wide.load95, %broadcast.splat
  store <8 x float> %530, <8 x float>* %scevgep330, align 4
  store <8 x float> %531, <8 x float>* %scevgep351, align 4
  store <8 x float> %532, <8 x float>* %scevgep345, align 4
  store <8 x float> %533, <8 x float>* %scevgep339, align 4
  %scevgep305 = getelementptr <8 x float>, <8 x float>* %scevgep328329, i64 -27
  %wide.load92.1 = load <8 x float>, <8 x float>* %scevgep305, align 4
  %scevgep302 = getelementptr <8 x float>, <8 x float>* %scevgep328329, i64 -26
  %wide.load93.1 = load <8 x float>, <8 x float>* %scevgep302, align 4
  %scevgep296 = getelementptr <8 x float>, <8 x float>* %scevgep328329, i64 -25
  %wide.load94.1 = load <8 x float>, <8 x float>* %scevgep296, align 4
  %scevgep290 = getelementptr <8 x float>, <8 x float>* %scevgep328329, i64 -24
  %wide.load95.1 = load <8 x float>, <8 x float>* %scevgep290, align 4
  %534 = fdiv reassoc ninf nsz <8 x float> %wide.load92.1, %broadcast.splat
  %535 = fdiv reassoc ninf nsz <8 x float> %wide.load93.1, %broadcast.splat
  %536 = fdiv reassoc ninf nsz <8 x float> %wide.load94.1, %broadcast.splat
  %537 = fdiv reassoc ninf nsz <8 x float> %wide.load95.1, %broadcast.splat
  store <8 x float> %534, <8 x float>* %scevgep305, align 4
  store <8 x float> %535, <8 x float>* %scevgep302, align 4
  store <8 x float> %536, <8 x float>* %scevgep296, align 4
  store <8 x float> %537, <8 x float>* %scevgep290, align 4
  %scevgep281 = getelementptr <8 x float>, <8 x float>* %scevgep328329, i64 -23
  %wide.load92.2 = load <8 x float>, <8 x float>* %scevgep281, align 4
  %scevgep278 = getelementptr <8 x float>, <8 x float>* %scevgep328329, i64 -22
  %wide.load93.2 = load <8 x float>, <8 x float>* %scevgep278, align 4
  %scevgep272 = getelementptr <8 x float>, <8 x float>* %scevgep328329, i64 -21
  %wide.load94.2 = load <8 x float>, <8 x float>* %scevgep272, align 4
  %scevgep266 = getelementptr <8 x float>, <8 x float>* %scevgep328329, i64 -20
  %wide.load95.2 = load <8 x float>, <8 x float>* %scevgep266, align 4
  %538 = fdiv reassoc ninf nsz <8 x float> %wide.load92.2, %broadcast.splat
  %539 = fdiv reassoc ninf nsz <8 x float> %wide.load93.2, %broadcast.splat
  %540 = fdiv reassoc ninf nsz <8 x float> %wide.load94.2, %broadcast.splat
  %541 = fdiv reassoc ninf nsz <8 x float> %wide.load95.2, %broadcast.splat
  store <8 x float> %538, <8 x float>* %scevgep281, align 4
  store <8 x float> %539, <8 x float>* %scevgep278, align 4
  store <8 x float> %540, <8 x float>* %scevgep272, align 4
  store <8 x float> %541, <8 x float>* %scevgep266, align 4
  %scevgep257 = getelementptr <8 x float>, <8 x float>* %scevgep328329, i64 -19
  %wide.load92.3 = load <8 x float>, <8 x float>* %scevgep257, align 4
  %scevgep254 = getelementptr <8 x float>, <8 x float>* %scevgep328329, i64 -18
  %wide.load93.3 = load <8 x float>, <8 x float>* %scevgep254, align 4
  %scevgep248 = getelementptr <8 x float>, <8 x float>* %scevgep328329, i64 -17
  %wide.load94.3 = load <8 x float>, <8 x float>* %scevgep248, align 4
  %scevgep242 = getelementptr <8 x float>, <8 x float>* %scevgep328329, i64 -16
  %wide.load95.3 = load <8 x float>, <8 x float>* %scevgep242, align 4
  %542 = fdiv reassoc ninf nsz <8 x float> %wide.load92.3, %broadcast.splat
  %543 = fdiv reassoc ninf nsz <8 x float> %wide.load93.3, %broadcast.splat
  %544 = fdiv reassoc ninf nsz <8 x float> %wide.load94.3, %broadcast.splat
  %545 = fdiv reassoc ninf nsz <8 x float> %wide.load95.3, %broadcast.splat
  store <8 x float> %542, <8 x float>* %scevgep257, align 4
  store <8 x float> %543, <8 x float>* %scevgep254, align 4
  store <8 x float> %544, <8 x float>* %scevgep248, align 4
  store <8 x float> %545, <8 x float>* %scevgep242, align 4
  %scevgep233 = getelementptr <8 x float>, <8 x float>* %scevgep328329, i64 -15
  %wide.load92.4 = load <8 x float>, <8 x float>* %scevgep233, align 4
  %scevgep230 = getelementptr <8 x float>, <8 x float>* %scevgep328329, i64 -14
  %wide.load93.4 = load <8 x float>, <8 x float>* %scevgep230, align 4
  %scevgep224 = getelementptr <8 x float>, <8 x float>* %scevgep328329, i64 -13
  %wide.load94.4 = load <8 x float>, <8 x float>* %scevgep224, align 4
  %scevgep218 = getelementptr <8 x float>, <8 x float>* %scevgep328329, i64 -12
  %wide.load95.4 = load <8 x float>, <8 x float>* %scevgep218, align 4
  %546 = fdiv reassoc ninf nsz <8 x float> %wide.load92.4, %broadcast.splat
  %547 = fdiv reassoc ninf nsz <8 x float> %wide.load93.4, %broadcast.splat
  %548 = fdiv reassoc ninf nsz <8 x float> %wide.load94.4, %broadcast.splat
  %549 = fdiv reassoc ninf nsz <8 x float> %wide.load95.4, %broadcast.splat
  store <8 x float> %546, <8 x float>* %scevgep233, align 4
  store <8 x float> %547, <8 x float>* %scevgep230, align 4
  store <8 x float> %548, <8 x float>* %scevgep224, align 4
  store <8 x float> %549, <8 x float>* %scevgep218, align 4
  %scevgep209 = getelementptr <8 x float>, <8 x float>* %scevgep328329, i64 -11
  %wide.load92.5 = load <8 x float>, <8 x float>* %scevgep209, align 4
  %scevgep206 = getelementptr <8 x float>, <8 x float>* %scevgep328329, i64 -10
  %wide.load93.5 = load <8 x float>, <8 x float>* %scevgep206, align 4
  %scevgep200 = getelementptr <8 x float>, <8 x float>* %scevgep328329, i64 -9
  %wide.load94.5 = load <8 x float>, <8 x float>* %scevgep200, align 4
  %scevgep194 = getelementptr <8 x float>, <8 x float>* %scevgep328329, i64 -8
  %wide.load95.5 = load <8 x float>, <8 x float>* %scevgep194, align 4
  %550 = fdiv reassoc ninf nsz <8 x float> %wide.load92.5, %broadcast.splat
  %551 = fdiv reassoc ninf nsz <8 x float> %wide.load93.5, %broadcast.splat
  %552 = fdiv reassoc ninf nsz <8 x float> %wide.load94.5, %broadcast.splat
  %553 = fdiv reassoc ninf nsz <8 x float> %wide.load95.5, %broadcast.splat
  store <8 x float> %550, <8 x float>* %scevgep209, align 4
  store <8 x float> %551, <8 x float>* %scevgep206, align 4
  store <8 x float> %552, <8 x float>* %scevgep200, align 4
  store <8 x float> %553, <8 x float>* %scevgep194, align 4
  %scevgep185 = getelementptr <8 x float>, <8 x float>* %scevgep328329, i64 -7
  %wide.load92.6 = load <8 x float>, <8 x float>* %scevgep185, align 4
  %scevgep182 = getelementptr <8 x float>, <8 x float>* %scevgep328329, i64 -6
  %wide.load93.6 = load <8 x float>, <8 x float>* %scevgep182, align 4
  %scevgep176 = getelementptr <8 x float>, <8 x float>* %scevgep328329, i64 -5
  %wide.load94.6 = load <8 x float>, <8 x float>* %scevgep176, align 4
  %scevgep170 = getelementptr <8 x float>, <8 x float>* %scevgep328329, i64 -4
  %wide.load95.6 = load <8 x float>, <8 x float>* %scevgep170, align 4
  %554 = fdiv reassoc ninf nsz <8 x float> %wide.load92.6, %broadcast.splat
  %555 = fdiv reassoc ninf nsz <8 x float> %wide.load93.6, %broadcast.splat
  %556 = fdiv reassoc ninf nsz <8 x float> %wide.load94.6, %broadcast.splat
  %557 = fdiv reassoc ninf nsz <8 x float> %wide.load95.6, %broadcast.splat
  store <8 x float> %554, <8 x float>* %scevgep185, align 4
  store <8 x float> %555, <8 x float>* %scevgep182, align 4
  store <8 x float> %556, <8 x float>* %scevgep176, align 4
  store <8 x float> %557, <8 x float>* %scevgep170, align 4
  %scevgep327 = getelementptr <8 x float>, <8 x float>* %scevgep328329, i64 -3
  %wide.load92.7 = load <8 x float>, <8 x float>* %scevgep327, align 4
  %scevgep324 = getelementptr <8 x float>, <8 x float>* %scevgep328329, i64 -2
  %wide.load93.7 = load <8 x float>, <8 x float>* %scevgep324, align 4
  %scevgep318 = getelementptr <8 x float>, <8 x float>* %scevgep328329, i64 -1
  %wide.load94.7 = load <8 x float>, <8 x float>* %scevgep318, align 4
  %wide.load95.7 = load <8 x float>, <8 x float>* %scevgep328329, align 4
  %558 = fdiv reassoc ninf nsz <8 x float> %wide.load92.7, %broadcast.splat
  %559 = fdiv reassoc ninf nsz <8 x float> %wide.load93.7, %broadcast.splat
  %560 = fdiv reassoc ninf nsz <8 x float> %wide.load94.7, %broadcast.splat
  %561 = fdiv reassoc ninf nsz <8 x float> %wide.load95.7, %broadcast.splat
  store <8 x float> %558, <8 x float>* %scevgep327, align 4
  store <8 x float> %559, <8 x float>* %scevgep324, align 4
  store <8 x float> %560, <8 x float>* %scevgep318, align 4
  store <8 x float> %561, <8 x float>* %scevgep328329, align 4
  %index.next102.7 = add i64 %index91, 256
  %lsr.iv.next353 = add i64 %lsr.iv352, -8
  %niter.ncmp.7 = icmp eq i64 %lsr.iv.next353, 0
  br i1 %niter.ncmp.7, label %middle.block82.unr-lcssa.loopexit, label %vector.body90, !llvm.loop !9

middle.block82.unr-lcssa.loopexit:                ; preds = %vector.body90
  br label %middle.block82.unr-lcssa

middle.block82.unr-lcssa:                         ; preds = %middle.block82.unr-lcssa.loopexit, %vector.ph85
  %index91.unr = phi i64 [ 0, %vector.ph85 ], [ %index.next102.7, %middle.block82.unr-lcssa.loopexit ]
  %lcmp.mod.not = icmp eq i64 %xtraiter, 0
  br i1 %lcmp.mod.not, label %middle.block82, label %vector.body90.epil.preheader

vector.body90.epil.preheader:                     ; preds = %middle.block82.unr-lcssa
  %562 = getelementptr float, float* %7, i64 %index91.unr
  %scevgep140420 = getelementptr float, float* %562, i64 24
  %scevgep140141 = bitcast float* %scevgep140420 to i8*
  %563 = shl nuw nsw i64 %xtraiter, 7
  br label %vector.body90.epil

vector.body90.epil:                               ; preds = %vector.body90.epil.preheader, %vector.body90.epil
  %lsr.iv = phi i64 [ 0, %vector.body90.epil.preheader ], [ %lsr.iv.next, %vector.body90.epil ]
  %uglygep158 = getelementptr i8, i8* %scevgep140141, i64 %lsr.iv
  %uglygep158159 = bitcast i8* %uglygep158 to <8 x float>*
  %scevgep160 = getelementptr <8 x float>, <8 x float>* %uglygep158159, i64 -3
  %wide.load92.epil = load <8 x float>, <8 x float>* %scevgep160, align 4
  %scevgep157 = getelementptr <8 x float>, <8 x float>* %uglygep158159, i64 -2
  %wide.load93.epil = load <8 x float>, <8 x float>* %scevgep157, align 4
  %scevgep153 = getelementptr <8 x float>, <8 x float>* %uglygep158159, i64 -1
  %wide.load94.epil = load <8 x float>, <8 x float>* %scevgep153, align 4
  %wide.load95.epil = load <8 x float>, <8 x float>* %uglygep158159, align 4
  %564 = fdiv reassoc ninf nsz <8 x float> %wide.load92.epil, %broadcast.splat
  %565 = fdiv reassoc ninf nsz <8 x float> %wide.load93.epil, %broadcast.splat
  %566 = fdiv reassoc ninf nsz <8 x float> %wide.load94.epil, %broadcast.splat
  %567 = fdiv reassoc ninf nsz <8 x float> %wide.load95.epil, %broadcast.splat
  store <8 x float> %564, <8 x float>* %scevgep160, align 4
  store <8 x float> %565, <8 x float>* %scevgep157, align 4
  store <8 x float> %566, <8 x float>* %scevgep153, align 4
  store <8 x float> %567, <8 x float>* %uglygep158159, align 4
  %lsr.iv.next = add nuw nsw i64 %lsr.iv, 128
  %epil.iter.cmp.not = icmp eq i64 %563, %lsr.iv.next
  br i1 %epil.iter.cmp.not, label %middle.block82.loopexit, label %vector.body90.epil, !llvm.loop !10

middle.block82.loopexit:                          ; preds = %vector.body90.epil
  br label %middle.block82

middle.block82:                                   ; preds = %middle.block82.loopexit, %middle.block82.unr-lcssa
  %cmp.n89 = icmp eq i64 %n.vec87, %wide.trip.count.i
  br i1 %cmp.n89, label %sums_body_1048592_0.exit, label %for_loop_body21.i.preheader

for_loop_body21.i.preheader:                      ; preds = %for_loop_body21.lr.ph.i, %middle.block82
  %indvars.iv.i.ph = phi i64 [ 0, %for_loop_body21.lr.ph.i ], [ %n.vec87, %middle.block82 ]
  br label %for_loop_body21.i

for_loop_body13.i:                                ; preds = %for_loop_body13.i.preheader, %after_for19.i
  %indvars.iv = phi i64 [ 0, %for_loop_body13.i.preheader ], [ %indvars.iv.next, %after_for19.i ]
  %lsr.iv372 = phi i32 [ %lsr.iv370, %for_loop_body13.i.preheader ], [ %lsr.iv.next373, %after_for19.i ]
  %lsr.iv356 = phi i32 [ %lsr.iv354, %for_loop_body13.i.preheader ], [ %lsr.iv.next357, %after_for19.i ]
  %indvars.iv120.i = phi i32 [ %indvars.iv.next121.i, %after_for19.i ], [ %indvars.iv118.i, %for_loop_body13.i.preheader ]
  %.07497.i = phi double [ %1035, %after_for19.i ], [ 0.000000e+00, %for_loop_body13.i.preheader ]
  %568 = phi <2 x double> [ %1034, %after_for19.i ], [ zeroinitializer, %for_loop_body13.i.preheader ]
  %569 = sext i32 %indvars.iv120.i to i64
  %scevgep361 = getelementptr float, float* %scevgep386, i64 %569
  %smin369 = call i32 @llvm.smin.i32(i32 %3, i32 %lsr.iv367)
  %smin374 = call i32 @llvm.smin.i32(i32 %smin369, i32 %lsr.iv372)
  %570 = sext i32 %smin374 to i64
  %571 = add i64 %570, -8
  %572 = sub i64 %571, %569
  %573 = lshr i64 %572, 3
  %574 = add nuw nsw i64 %573, 1
  %575 = lshr i64 %574, 1
  %576 = shl nuw nsw i64 %575, 1
  %577 = trunc i64 %indvars.iv to i32
  %578 = shl i32 %577, 6
  %579 = add i32 %508, %578
  %smin113 = call i32 @llvm.smin.i32(i32 %512, i32 %579)
  %580 = sext i32 %smin113 to i64
  %581 = add i32 %506, %578
  %582 = sext i32 %581 to i64
  %583 = sub nsw i64 %580, %582
  %584 = add nsw i64 %583, -8
  %585 = lshr i64 %584, 3
  %586 = add nuw nsw i64 %585, 1
  %587 = xor i32 %581, -1
  %588 = sext i32 %587 to i64
  %589 = add nsw i64 %588, %580
  %590 = mul i32 %577, 192
  %591 = add i32 %509, %590
  %592 = add i32 %510, %590
  %593 = add i32 %511, %590
  %594 = add i32 %581, 64
  %595 = tail call i32 @llvm.smin.i32(i32 %594, i32 %512)
  %596 = icmp slt i32 %581, %595
  br i1 %596, label %for_loop_body17.lr.ph.i, label %after_for19.i

for_loop_body17.lr.ph.i:                          ; preds = %for_loop_body13.i
  %597 = sext i32 %595 to i64
  %min.iters.check63 = icmp ult i64 %583, 16
  br i1 %min.iters.check63, label %for_loop_body17.i.preheader, label %vector.scevcheck47

vector.scevcheck47:                               ; preds = %for_loop_body17.lr.ph.i
  %598 = trunc i64 %589 to i32
  %mul50 = call { i32, i1 } @llvm.umul.with.overflow.i32(i32 %598, i32 3)
  %mul.result51 = extractvalue { i32, i1 } %mul50, 0
  %mul.overflow52 = extractvalue { i32, i1 } %mul50, 1
  %599 = add i32 %591, %mul.result51
  %600 = icmp slt i32 %599, %591
  %601 = or i1 %600, %mul.overflow52
  %602 = add i32 %592, %mul.result51
  %603 = icmp slt i32 %602, %592
  %604 = or i1 %603, %mul.overflow52
  %605 = icmp ugt i64 %589, 4294967295
  %606 = or i1 %604, %605
  %607 = add i32 %593, %mul.result51
  %608 = icmp slt i32 %607, %593
  %609 = or i1 %608, %mul.overflow52
  %610 = or i1 %601, %606
  %611 = or i1 %609, %610
  br i1 %611, label %for_loop_body17.i.preheader, label %vector.ph64

vector.ph64:                                      ; preds = %vector.scevcheck47
  %n.vec66 = and i64 %583, -8
  %ind.end67 = add nsw i64 %n.vec66, %569
  %xtraiter114 = and i64 %586, 1
  %612 = icmp ult i64 %584, 8
  br i1 %612, label %middle.block61.unr-lcssa, label %vector.ph64.new

vector.ph64.new:                                  ; preds = %vector.ph64
  br label %vector.body70

vector.body70:                                    ; preds = %vector.body70, %vector.ph64.new
  %lsr.iv375 = phi i64 [ %lsr.iv.next376, %vector.body70 ], [ %576, %vector.ph64.new ]
  %lsr.iv358 = phi i32 [ %lsr.iv.next359, %vector.body70 ], [ %lsr.iv356, %vector.ph64.new ]
  %index71 = phi i64 [ 0, %vector.ph64.new ], [ %index.next78.1, %vector.body70 ]
  %vec.phi72 = phi <8 x float> [ zeroinitializer, %vector.ph64.new ], [ %863, %vector.body70 ]
  %vec.phi73 = phi <8 x float> [ zeroinitializer, %vector.ph64.new ], [ %862, %vector.body70 ]
  %vec.phi74 = phi <8 x float> [ zeroinitializer, %vector.ph64.new ], [ %861, %vector.body70 ]
  %613 = add i32 %lsr.iv358, -47
  %614 = add i32 %lsr.iv358, -44
  %615 = add i32 %lsr.iv358, -41
  %616 = add i32 %lsr.iv358, -38
  %617 = add i32 %lsr.iv358, -35
  %618 = add i32 %lsr.iv358, -32
  %619 = add i32 %lsr.iv358, -29
  %620 = add i32 %lsr.iv358, -26
  %621 = sext i32 %613 to i64
  %622 = sext i32 %614 to i64
  %623 = sext i32 %615 to i64
  %624 = sext i32 %616 to i64
  %625 = sext i32 %617 to i64
  %626 = sext i32 %618 to i64
  %627 = sext i32 %619 to i64
  %628 = sext i32 %620 to i64
  %629 = getelementptr float, float* %5, i64 %621
  %630 = getelementptr float, float* %5, i64 %622
  %631 = getelementptr float, float* %5, i64 %623
  %632 = getelementptr float, float* %5, i64 %624
  %633 = getelementptr float, float* %5, i64 %625
  %634 = getelementptr float, float* %5, i64 %626
  %635 = getelementptr float, float* %5, i64 %627
  %636 = getelementptr float, float* %5, i64 %628
  %637 = load float, float* %629, align 4
  %638 = load float, float* %630, align 4
  %639 = load float, float* %631, align 4
  %640 = load float, float* %632, align 4
  %641 = load float, float* %633, align 4
  %642 = load float, float* %634, align 4
  %643 = load float, float* %635, align 4
  %644 = load float, float* %636, align 4
  %645 = insertelement <8 x float> poison, float %637, i64 0
  %646 = insertelement <8 x float> %645, float %638, i64 1
  %647 = insertelement <8 x float> %646, float %639, i64 2
  %648 = insertelement <8 x float> %647, float %640, i64 3
  %649 = insertelement <8 x float> %648, float %641, i64 4
  %650 = insertelement <8 x float> %649, float %642, i64 5
  %651 = insertelement <8 x float> %650, float %643, i64 6
  %652 = insertelement <8 x float> %651, float %644, i64 7
  %653 = add i32 %lsr.iv358, -46
  %654 = add i32 %lsr.iv358, -43
  %655 = add i32 %lsr.iv358, -40
  %656 = add i32 %lsr.iv358, -37
  %657 = add i32 %lsr.iv358, -34
  %658 = add i32 %lsr.iv358, -31
  %659 = add i32 %lsr.iv358, -28
  %660 = add i32 %lsr.iv358, -25
  %661 = sext i32 %653 to i64
  %662 = sext i32 %654 to i64
  %663 = sext i32 %655 to i64
  %664 = sext i32 %656 to i64
  %665 = sext i32 %657 to i64
  %666 = sext i32 %658 to i64
  %667 = sext i32 %659 to i64
  %668 = sext i32 %660 to i64
  %669 = getelementptr float, float* %5, i64 %661
  %670 = getelementptr float, float* %5, i64 %662
  %671 = getelementptr float, float* %5, i64 %663
  %672 = getelementptr float, float* %5, i64 %664
  %673 = getelementptr float, float* %5, i64 %665
  %674 = getelementptr float, float* %5, i64 %666
  %675 = getelementptr float, float* %5, i64 %667
  %676 = getelementptr float, float* %5, i64 %668
  %677 = load float, float* %669, align 4
  %678 = load float, float* %670, align 4
  %679 = load float, float* %671, align 4
  %680 = load float, float* %672, align 4
  %681 = load float, float* %673, align 4
  %682 = load float, float* %674, align 4
  %683 = load float, float* %675, align 4
  %684 = load float, float* %676, align 4
  %685 = insertelement <8 x float> poison, float %677, i64 0
  %686 = insertelement <8 x float> %685, float %678, i64 1
  %687 = insertelement <8 x float> %686, float %679, i64 2
  %688 = insertelement <8 x float> %687, float %680, i64 3
  %689 = insertelement <8 x float> %688, float %681, i64 4
  %690 = insertelement <8 x float> %689, float %682, i64 5
  %691 = insertelement <8 x float> %690, float %683, i64 6
  %692 = insertelement <8 x float> %691, float %684, i64 7
  %693 = add i32 %lsr.iv358, -45
  %694 = add i32 %lsr.iv358, -42
  %695 = add i32 %lsr.iv358, -39
  %696 = add i32 %lsr.iv358, -36
  %697 = add i32 %lsr.iv358, -33
  %698 = add i32 %lsr.iv358, -30
  %699 = add i32 %lsr.iv358, -27
  %700 = add i32 %lsr.iv358, -24
  %701 = sext i32 %693 to i64
  %702 = sext i32 %694 to i64
  %703 = sext i32 %695 to i64
  %704 = sext i32 %696 to i64
  %705 = sext i32 %697 to i64
  %706 = sext i32 %698 to i64
  %707 = sext i32 %699 to i64
  %708 = sext i32 %700 to i64
  %709 = getelementptr float, float* %5, i64 %701
  %710 = getelementptr float, float* %5, i64 %702
  %711 = getelementptr float, float* %5, i64 %703
  %712 = getelementptr float, float* %5, i64 %704
  %713 = getelementptr float, float* %5, i64 %705
  %714 = getelementptr float, float* %5, i64 %706
  %715 = getelementptr float, float* %5, i64 %707
  %716 = getelementptr float, float* %5, i64 %708
  %717 = load float, float* %709, align 4
  %718 = load float, float* %710, align 4
  %719 = load float, float* %711, align 4
  %720 = load float, float* %712, align 4
  %721 = load float, float* %713, align 4
  %722 = load float, float* %714, align 4
  %723 = load float, float* %715, align 4
  %724 = load float, float* %716, align 4
  %725 = insertelement <8 x float> poison, float %717, i64 0
  %726 = insertelement <8 x float> %725, float %718, i64 1
  %727 = insertelement <8 x float> %726, float %719, i64 2
  %728 = insertelement <8 x float> %727, float %720, i64 3
  %729 = insertelement <8 x float> %728, float %721, i64 4
  %730 = insertelement <8 x float> %729, float %722, i64 5
  %731 = insertelement <8 x float> %730, float %723, i64 6
  %732 = insertelement <8 x float> %731, float %724, i64 7
  %scevgep364 = getelementptr float, float* %scevgep361, i64 %index71
  %scevgep364365 = bitcast float* %scevgep364 to <8 x float>*
  %scevgep366 = getelementptr <8 x float>, <8 x float>* %scevgep364365, i64 -1
  %wide.load77 = load <8 x float>, <8 x float>* %scevgep366, align 4
  %733 = fmul reassoc ninf nsz <8 x float> %wide.load77, %652
  %734 = fmul reassoc ninf nsz <8 x float> %wide.load77, %692
  %735 = fmul reassoc ninf nsz <8 x float> %wide.load77, %732
  %736 = fadd reassoc ninf nsz <8 x float> %733, %vec.phi74
  %737 = fadd reassoc ninf nsz <8 x float> %734, %vec.phi73
  %738 = fadd reassoc ninf nsz <8 x float> %735, %vec.phi72
  %739 = add i32 %lsr.iv358, -23
  %740 = add i32 %lsr.iv358, -20
  %741 = add i32 %lsr.iv358, -17
  %742 = add i32 %lsr.iv358, -14
  %743 = add i32 %lsr.iv358, -11
  %744 = add i32 %lsr.iv358, -8
  %745 = add i32 %lsr.iv358, -5
  %746 = add i32 %lsr.iv358, -2
  %747 = sext i32 %739 to i64
  %748 = sext i32 %740 to i64
  %749 = sext i32 %741 to i64
  %750 = sext i32 %742 to i64
  %751 = sext i32 %743 to i64
  %752 = sext i32 %744 to i64
  %753 = sext i32 %745 to i64
  %754 = sext i32 %746 to i64
  %755 = getelementptr float, float* %5, i64 %747
  %756 = getelementptr float, float* %5, i64 %748
  %757 = getelementptr float, float* %5, i64 %749
  %758 = getelementptr float, float* %5, i64 %750
  %759 = getelementptr float, float* %5, i64 %751
  %760 = getelementptr float, float* %5, i64 %752
  %761 = getelementptr float, float* %5, i64 %753
  %762 = getelementptr float, float* %5, i64 %754
  %763 = load float, float* %755, align 4
  %764 = load float, float* %756, align 4
  %765 = load float, float* %757, align 4
  %766 = load float, float* %758, align 4
  %767 = load float, float* %759, align 4
  %768 = load float, float* %760, align 4
  %769 = load float, float* %761, align 4
  %770 = load float, float* %762, align 4
  %771 = insertelement <8 x float> poison, float %763, i64 0
  %772 = insertelement <8 x float> %771, float %764, i64 1
  %773 = insertelement <8 x float> %772, float %765, i64 2
  %774 = insertelement <8 x float> %773, float %766, i64 3
  %775 = insertelement <8 x float> %774, float %767, i64 4
  %776 = insertelement <8 x float> %775, float %768, i64 5
  %777 = insertelement <8 x float> %776, float %769, i64 6
  %778 = insertelement <8 x float> %777, float %770, i64 7
  %779 = add i32 %lsr.iv358, -22
  %780 = add i32 %lsr.iv358, -19
  %781 = add i32 %lsr.iv358, -16
  %782 = add i32 %lsr.iv358, -13
  %783 = add i32 %lsr.iv358, -10
  %784 = add i32 %lsr.iv358, -7
  %785 = add i32 %lsr.iv358, -4
  %786 = add i32 %lsr.iv358, -1
  %787 = sext i32 %779 to i64
  %788 = sext i32 %780 to i64
  %789 = sext i32 %781 to i64
  %790 = sext i32 %782 to i64
  %791 = sext i32 %783 to i64
  %792 = sext i32 %784 to i64
  %793 = sext i32 %785 to i64
  %794 = sext i32 %786 to i64
  %795 = getelementptr float, float* %5, i64 %787
  %796 = getelementptr float, float* %5, i64 %788
  %797 = getelementptr float, float* %5, i64 %789
  %798 = getelementptr float, float* %5, i64 %790
  %799 = getelementptr float, float* %5, i64 %791
  %800 = getelementptr float, float* %5, i64 %792
  %801 = getelementptr float, float* %5, i64 %793
  %802 = getelementptr float, float* %5, i64 %794
  %803 = load float, float* %795, align 4
  %804 = load float, float* %796, align 4
  %805 = load float, float* %797, align 4
  %806 = load float, float* %798, align 4
  %807 = load float, float* %799, align 4
  %808 = load float, float* %800, align 4
  %809 = load float, float* %801, align 4
  %810 = load float, float* %802, align 4
  %811 = insertelement <8 x float> poison, float %803, i64 0
  %812 = insertelement <8 x float> %811, float %804, i64 1
  %813 = insertelement <8 x float> %812, float %805, i64 2
  %814 = insertelement <8 x float> %813, float %806, i64 3
  %815 = insertelement <8 x float> %814, float %807, i64 4
  %816 = insertelement <8 x float> %815, float %808, i64 5
  %817 = insertelement <8 x float> %816, float %809, i64 6
  %818 = insertelement <8 x float> %817, float %810, i64 7
  %819 = add i32 %lsr.iv358, -21
  %820 = add i32 %lsr.iv358, -18
  %821 = add i32 %lsr.iv358, -15
  %822 = add i32 %lsr.iv358, -12
  %823 = add i32 %lsr.iv358, -9
  %824 = add i32 %lsr.iv358, -6
  %825 = add i32 %lsr.iv358, -3
  %826 = sext i32 %819 to i64
  %827 = sext i32 %820 to i64
  %828 = sext i32 %821 to i64
  %829 = sext i32 %822 to i64
  %830 = sext i32 %823 to i64
  %831 = sext i32 %824 to i64
  %832 = sext i32 %825 to i64
  %833 = sext i32 %lsr.iv358 to i64
  %834 = getelementptr float, float* %5, i64 %826
  %835 = getelementptr float, float* %5, i64 %827
  %836 = getelementptr float, float* %5, i64 %828
  %837 = getelementptr float, float* %5, i64 %829
  %838 = getelementptr float, float* %5, i64 %830
  %839 = getelementptr float, float* %5, i64 %831
  %840 = getelementptr float, float* %5, i64 %832
  %841 = getelementptr float, float* %5, i64 %833
  %842 = load float, float* %834, align 4
  %843 = load float, float* %835, align 4
  %844 = load float, float* %836, align 4
  %845 = load float, float* %837, align 4
  %846 = load float, float* %838, align 4
  %847 = load float, float* %839, align 4
  %848 = load float, float* %840, align 4
  %849 = load float, float* %841, align 4
  %850 = insertelement <8 x float> poison, float %842, i64 0
  %851 = insertelement <8 x float> %850, float %843, i64 1
  %852 = insertelement <8 x float> %851, float %844, i64 2
  %853 = insertelement <8 x float> %852, float %845, i64 3
  %854 = insertelement <8 x float> %853, float %846, i64 4
  %855 = insertelement <8 x float> %854, float %847, i64 5
  %856 = insertelement <8 x float> %855, float %848, i64 6
  %857 = insertelement <8 x float> %856, float %849, i64 7
  %wide.load77.1 = load <8 x float>, <8 x float>* %scevgep364365, align 4
  %858 = fmul reassoc ninf nsz <8 x float> %wide.load77.1, %778
  %859 = fmul reassoc ninf nsz <8 x float> %wide.load77.1, %818
  %860 = fmul reassoc ninf nsz <8 x float> %wide.load77.1, %857
  %861 = fadd reassoc ninf nsz <8 x float> %858, %736
  %862 = fadd reassoc ninf nsz <8 x float> %859, %737
  %863 = fadd reassoc ninf nsz <8 x float> %860, %738
  %index.next78.1 = add i64 %index71, 16
  %lsr.iv.next359 = add i32 %lsr.iv358, 48
  %lsr.iv.next376 = add i64 %lsr.iv375, -2
  %niter121.ncmp.1 = icmp eq i64 %lsr.iv.next376, 0
  br i1 %niter121.ncmp.1, label %middle.block61.unr-lcssa.loopexit, label %vector.body70, !llvm.loop !12

middle.block61.unr-lcssa.loopexit:                ; preds = %vector.body70
  br label %middle.block61.unr-lcssa

middle.block61.unr-lcssa:                         ; preds = %middle.block61.unr-lcssa.loopexit, %vector.ph64
  %.lcssa104.ph = phi <8 x float> [ undef, %vector.ph64 ], [ %861, %middle.block61.unr-lcssa.loopexit ]
  %.lcssa103.ph = phi <8 x float> [ undef, %vector.ph64 ], [ %862, %middle.block61.unr-lcssa.loopexit ]
  %.lcssa.ph = phi <8 x float> [ undef, %vector.ph64 ], [ %863, %middle.block61.unr-lcssa.loopexit ]
  %index71.unr = phi i64 [ 0, %vector.ph64 ], [ %index.next78.1, %middle.block61.unr-lcssa.loopexit ]
  %vec.phi72.unr = phi <8 x float> [ zeroinitializer, %vector.ph64 ], [ %863, %middle.block61.unr-lcssa.loopexit ]
  %vec.phi73.unr = phi <8 x float> [ zeroinitializer, %vector.ph64 ], [ %862, %middle.block61.unr-lcssa.loopexit ]
  %vec.phi74.unr = phi <8 x float> [ zeroinitializer, %vector.ph64 ], [ %861, %middle.block61.unr-lcssa.loopexit ]
  %lcmp.mod116.not = icmp eq i64 %xtraiter114, 0
  br i1 %lcmp.mod116.not, label %middle.block61, label %vector.body70.epil

vector.body70.epil:                               ; preds = %middle.block61.unr-lcssa
  %864 = trunc i64 %index71.unr to i32
  %865 = add i32 %indvars.iv120.i, %864
  %offset.idx76.epil = add i64 %index71.unr, %569
  %866 = mul i32 %865, 3
  %867 = add i32 %866, 3
  %868 = add i32 %866, 6
  %869 = add i32 %866, 9
  %870 = add i32 %866, 12
  %871 = add i32 %866, 15
  %872 = add i32 %866, 18
  %873 = add i32 %866, 21
  %874 = sext i32 %866 to i64
  %875 = sext i32 %867 to i64
  %876 = sext i32 %868 to i64
  %877 = sext i32 %869 to i64
  %878 = sext i32 %870 to i64
  %879 = sext i32 %871 to i64
  %880 = sext i32 %872 to i64
  %881 = sext i32 %873 to i64
  %882 = getelementptr float, float* %5, i64 %874
  %883 = getelementptr float, float* %5, i64 %875
  %884 = getelementptr float, float* %5, i64 %876
  %885 = getelementptr float, float* %5, i64 %877
  %886 = getelementptr float, float* %5, i64 %878
  %887 = getelementptr float, float* %5, i64 %879
  %888 = getelementptr float, float* %5, i64 %880
  %889 = getelementptr float, float* %5, i64 %881
  %890 = load float, float* %882, align 4
  %891 = load float, float* %883, align 4
  %892 = load float, float* %884, align 4
  %893 = load float, float* %885, align 4
  %894 = load float, float* %886, align 4
  %895 = load float, float* %887, align 4
  %896 = load float, float* %888, align 4
  %897 = load float, float* %889, align 4
  %898 = insertelement <8 x float> poison, float %890, i64 0
  %899 = insertelement <8 x float> %898, float %891, i64 1
  %900 = insertelement <8 x float> %899, float %892, i64 2
  %901 = insertelement <8 x float> %900, float %893, i64 3
  %902 = insertelement <8 x float> %901, float %894, i64 4
  %903 = insertelement <8 x float> %902, float %895, i64 5
  %904 = insertelement <8 x float> %903, float %896, i64 6
  %905 = insertelement <8 x float> %904, float %897, i64 7
  %906 = add i32 %866, 1
  %907 = add i32 %866, 4
  %908 = add i32 %866, 7
  %909 = add i32 %866, 10
  %910 = add i32 %866, 13
  %911 = add i32 %866, 16
  %912 = add i32 %866, 19
  %913 = add i32 %866, 22
  %914 = sext i32 %906 to i64
  %915 = sext i32 %907 to i64
  %916 = sext i32 %908 to i64
  %917 = sext i32 %909 to i64
  %918 = sext i32 %910 to i64
  %919 = sext i32 %911 to i64
  %920 = sext i32 %912 to i64
  %921 = sext i32 %913 to i64
  %922 = getelementptr float, float* %5, i64 %914
  %923 = getelementptr float, float* %5, i64 %915
  %924 = getelementptr float, float* %5, i64 %916
  %925 = getelementptr float, float* %5, i64 %917
  %926 = getelementptr float, float* %5, i64 %918
  %927 = getelementptr float, float* %5, i64 %919
  %928 = getelementptr float, float* %5, i64 %920
  %929 = getelementptr float, float* %5, i64 %921
  %930 = load float, float* %922, align 4
  %931 = load float, float* %923, align 4
  %932 = load float, float* %924, align 4
  %933 = load float, float* %925, align 4
  %934 = load float, float* %926, align 4
  %935 = load float, float* %927, align 4
  %936 = load float, float* %928, align 4
  %937 = load float, float* %929, align 4
  %938 = insertelement <8 x float> poison, float %930, i64 0
  %939 = insertelement <8 x float> %938, float %931, i64 1
  %940 = insertelement <8 x float> %939, float %932, i64 2
  %941 = insertelement <8 x float> %940, float %933, i64 3
  %942 = insertelement <8 x float> %941, float %934, i64 4
  %943 = insertelement <8 x float> %942, float %935, i64 5
  %944 = insertelement <8 x float> %943, float %936, i64 6
  %945 = insertelement <8 x float> %944, float %937, i64 7
  %946 = add i32 %866, 2
  %947 = add i32 %866, 5
  %948 = add i32 %866, 8
  %949 = add i32 %866, 11
  %950 = add i32 %866, 14
  %951 = add i32 %866, 17
  %952 = add i32 %866, 20
  %953 = add i32 %866, 23
  %954 = sext i32 %946 to i64
  %955 = sext i32 %947 to i64
  %956 = sext i32 %948 to i64
  %957 = sext i32 %949 to i64
  %958 = sext i32 %950 to i64
  %959 = sext i32 %951 to i64
  %960 = sext i32 %952 to i64
  %961 = sext i32 %953 to i64
  %962 = getelementptr float, float* %5, i64 %954
  %963 = getelementptr float, float* %5, i64 %955
  %964 = getelementptr float, float* %5, i64 %956
  %965 = getelementptr float, float* %5, i64 %957
  %966 = getelementptr float, float* %5, i64 %958
  %967 = getelementptr float, float* %5, i64 %959
  %968 = getelementptr float, float* %5, i64 %960
  %969 = getelementptr float, float* %5, i64 %961
  %970 = load float, float* %962, align 4
  %971 = load float, float* %963, align 4
  %972 = load float, float* %964, align 4
  %973 = load float, float* %965, align 4
  %974 = load float, float* %966, align 4
  %975 = load float, float* %967, align 4
  %976 = load float, float* %968, align 4
  %977 = load float, float* %969, align 4
  %978 = insertelement <8 x float> poison, float %970, i64 0
  %979 = insertelement <8 x float> %978, float %971, i64 1
  %980 = insertelement <8 x float> %979, float %972, i64 2
  %981 = insertelement <8 x float> %980, float %973, i64 3
  %982 = insertelement <8 x float> %981, float %974, i64 4
  %983 = insertelement <8 x float> %982, float %975, i64 5
  %984 = insertelement <8 x float> %983, float %976, i64 6
  %985 = insertelement <8 x float> %984, float %977, i64 7
  %986 = getelementptr float, float* %7, i64 %offset.idx76.epil
  %987 = bitcast float* %986 to <8 x float>*
  %wide.load77.epil = load <8 x float>, <8 x float>* %987, align 4
  %988 = fmul reassoc ninf nsz <8 x float> %wide.load77.epil, %905
  %989 = fmul reassoc ninf nsz <8 x float> %wide.load77.epil, %945
  %990 = fmul reassoc ninf nsz <8 x float> %wide.load77.epil, %985
  %991 = fadd reassoc ninf nsz <8 x float> %988, %vec.phi74.unr
  %992 = fadd reassoc ninf nsz <8 x float> %989, %vec.phi73.unr
  %993 = fadd reassoc ninf nsz <8 x float> %990, %vec.phi72.unr
  br label %middle.block61

middle.block61:                                   ; preds = %middle.block61.unr-lcssa, %vector.body70.epil
  %.lcssa104 = phi <8 x float> [ %.lcssa104.ph, %middle.block61.unr-lcssa ], [ %991, %vector.body70.epil ]
  %.lcssa103 = phi <8 x float> [ %.lcssa103.ph, %middle.block61.unr-lcssa ], [ %992, %vector.body70.epil ]
  %.lcssa = phi <8 x float> [ %.lcssa.ph, %middle.block61.unr-lcssa ], [ %993, %vector.body70.epil ]
  %994 = call reassoc ninf nsz float @llvm.vector.reduce.fadd.v8f32(float -0.000000e+00, <8 x float> %.lcssa104)
  %995 = call reassoc ninf nsz float @llvm.vector.reduce.fadd.v8f32(float -0.000000e+00, <8 x float> %.lcssa103)
  %996 = call reassoc ninf nsz float @llvm.vector.reduce.fadd.v8f32(float -0.000000e+00, <8 x float> %.lcssa)
  %cmp.n69 = icmp eq i64 %583, %n.vec66
  %997 = insertelement <2 x float> poison, float %994, i64 0
  %998 = insertelement <2 x float> %997, float %995, i64 1
  br i1 %cmp.n69, label %after_for19.i, label %for_loop_body17.i.preheader

for_loop_body17.i.preheader:                      ; preds = %vector.scevcheck47, %for_loop_body17.lr.ph.i, %middle.block61
  %indvars.iv122.i.ph = phi i64 [ %569, %vector.scevcheck47 ], [ %569, %for_loop_body17.lr.ph.i ], [ %ind.end67, %middle.block61 ]
  %.07091.i.ph = phi float [ 0.000000e+00, %vector.scevcheck47 ], [ 0.000000e+00, %for_loop_body17.lr.ph.i ], [ %996, %middle.block61 ]
  %.ph = phi <2 x float> [ zeroinitializer, %vector.scevcheck47 ], [ zeroinitializer, %for_loop_body17.lr.ph.i ], [ %998, %middle.block61 ]
  %999 = trunc i64 %indvars.iv122.i.ph to i32
  %1000 = mul i32 %999, 3
  br label %for_loop_body17.i

after_for15.i.loopexit:                           ; preds = %after_for19.i
  br label %after_for15.i

after_for15.i:                                    ; preds = %after_for15.i.loopexit, %for_loop_body9.i
  %.074.lcssa.i = phi double [ 0.000000e+00, %for_loop_body9.i ], [ %1035, %after_for15.i.loopexit ]
  %1001 = phi <2 x double> [ zeroinitializer, %for_loop_body9.i ], [ %1034, %after_for15.i.loopexit ]
  %1002 = load float, float* %47, align 4
  %1003 = fptrunc <2 x double> %1001 to <2 x float>
  %1004 = fptrunc double %.074.lcssa.i to float
  %1005 = fadd reassoc ninf nsz float %1002, %1004
  %1006 = load <2 x float>, <2 x float>* %48, align 4
  %1007 = fadd reassoc ninf nsz <2 x float> %1006, %1003
  store <2 x float> %1007, <2 x float>* %48, align 4
  store float %1005, float* %47, align 4
  %1008 = add nuw nsw i32 %.078102.i, 1
  %indvars.iv.next119.i = add i32 %indvars.iv118.i, %19
  %lsr.iv.next355 = add i32 %lsr.iv354, %29
  %lsr.iv.next368 = add i32 %lsr.iv367, %19
  %lsr.iv.next371 = add i32 %lsr.iv370, %19
  %exitcond126.not.i = icmp eq i32 %1008, %27
  br i1 %exitcond126.not.i, label %for_loop_test24.preheader.i.loopexit, label %for_loop_body9.i

for_loop_body17.i:                                ; preds = %for_loop_body17.i.preheader, %for_loop_body17.i
  %lsr.iv378 = phi i32 [ %1000, %for_loop_body17.i.preheader ], [ %lsr.iv.next379, %for_loop_body17.i ]
  %indvars.iv122.i = phi i64 [ %indvars.iv.next123.i, %for_loop_body17.i ], [ %indvars.iv122.i.ph, %for_loop_body17.i.preheader ]
  %.07091.i = phi float [ %1029, %for_loop_body17.i ], [ %.07091.i.ph, %for_loop_body17.i.preheader ]
  %1009 = phi <2 x float> [ %1028, %for_loop_body17.i ], [ %.ph, %for_loop_body17.i.preheader ]
  %1010 = sext i32 %lsr.iv378 to i64
  %1011 = getelementptr float, float* %5, i64 %1010
  %1012 = add i32 %lsr.iv378, 1
  %1013 = sext i32 %1012 to i64
  %1014 = getelementptr float, float* %5, i64 %1013
  %1015 = add i32 %lsr.iv378, 2
  %1016 = sext i32 %1015 to i64
  %1017 = getelementptr float, float* %5, i64 %1016
  %1018 = load float, float* %1017, align 4
  %scevgep377 = getelementptr float, float* %7, i64 %indvars.iv122.i
  %1019 = load float, float* %scevgep377, align 4
  %1020 = load float, float* %1011, align 4
  %1021 = load float, float* %1014, align 4
  %1022 = insertelement <2 x float> poison, float %1019, i64 0
  %1023 = shufflevector <2 x float> %1022, <2 x float> poison, <2 x i32> zeroinitializer
  %1024 = insertelement <2 x float> poison, float %1020, i64 0
  %1025 = insertelement <2 x float> %1024, float %1021, i64 1
  %1026 = fmul reassoc ninf nsz <2 x float> %1023, %1025
  %1027 = fmul reassoc ninf nsz float %1019, %1018
  %1028 = fadd reassoc ninf nsz <2 x float> %1026, %1009
  %1029 = fadd reassoc ninf nsz float %1027, %.07091.i
  %indvars.iv.next123.i = add nsw i64 %indvars.iv122.i, 1
  %lsr.iv.next379 = add i32 %lsr.iv378, 3
  %1030 = icmp slt i64 %indvars.iv.next123.i, %597
  br i1 %1030, label %for_loop_body17.i, label %after_for19.i.loopexit, !llvm.loop !13

after_for19.i.loopexit:                           ; preds = %for_loop_body17.i
  br label %after_for19.i

after_for19.i:                                    ; preds = %after_for19.i.loopexit, %middle.block61, %for_loop_body13.i
  %.070.lcssa.i = phi float [ 0.000000e+00, %for_loop_body13.i ], [ %996, %middle.block61 ], [ %1029, %after_for19.i.loopexit ]
  %1031 = phi <2 x float> [ zeroinitializer, %for_loop_body13.i ], [ %998, %middle.block61 ], [ %1028, %after_for19.i.loopexit ]
  %1032 = fpext <2 x float> %1031 to <2 x double>
  %1033 = fpext float %.070.lcssa.i to double
  %1034 = fadd reassoc ninf nsz <2 x double> %568, %1032
  %1035 = fadd reassoc ninf nsz double %.07497.i, %1033
  %indvars.iv.next = add nuw nsw i64 %indvars.iv, 1
  %indvars.iv.next121.i = add i32 %indvars.iv120.i, 64
  %lsr.iv.next357 = add i32 %lsr.iv356, 192
  %lsr.iv.next373 = add i32 %lsr.iv372, 64
  %exitcond125.not.i = icmp eq i64 %indvars.iv.next, %522
  br i1 %exitcond125.not.i, label %after_for15.i.loopexit, label %for_loop_body13.i

for_loop_body21.i:                                ; preds = %for_loop_body21.i.preheader, %for_loop_body21.i
  %indvars.iv.i = phi i64 [ %indvars.iv.next.i, %for_loop_body21.i ], [ %indvars.iv.i.ph, %for_loop_body21.i.preheader ]
  %scevgep = getelementptr float, float* %7, i64 %indvars.iv.i
  %1036 = load float, float* %scevgep, align 4
  %1037 = fdiv reassoc ninf nsz float %1036, %525
  store float %1037, float* %scevgep, align 4
  %indvars.iv.next.i = add nuw nsw i64 %indvars.iv.i, 1
  %exitcond.not.i = icmp eq i64 %wide.trip.count.i, %indvars.iv.next.i
  br i1 %exitcond.not.i, label %sums_body_1048592_0.exit.loopexit, label %for_loop_body21.i, !llvm.loop !14

sums_body_1048592_0.exit.loopexit:                ; preds = %for_loop_body21.i
  br label %sums_body_1048592_0.exit

sums_body_1048592_0.exit:                         ; preds = %sums_body_1048592_0.exit.loopexit, %middle.block82, %for_loop_test24.preheader.i
  ret void
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind readnone speculatable willreturn
declare i32 @llvm.smin.i32(i32, i32) #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind readnone speculatable willreturn
declare i32 @llvm.smax.i32(i32, i32) #1

; Function Attrs: nocallback nofree nosync nounwind readnone speculatable willreturn
declare { i32, i1 } @llvm.umul.with.overflow.i32(i32, i32) #2

; Function Attrs: nocallback nofree nosync nounwind readnone willreturn
declare float @llvm.vector.reduce.fadd.v8f32(float, <8 x float>) #3

attributes #0 = { nofree nosync nounwind }
attributes #1 = { mustprogress nocallback nofree nosync nounwind readnone speculatable willreturn }
attributes #2 = { nocallback nofree nosync nounwind readnone speculatable willreturn }
attributes #3 = { nocallback nofree nosync nounwind readnone willreturn }

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
!8 = distinct !{!8, !7}
!9 = distinct !{!9, !7}
!10 = distinct !{!10, !11}
!11 = !{!"llvm.loop.unroll.disable"}
!12 = distinct !{!12, !7}
!13 = distinct !{!13, !7}
!14 = distinct !{!14, !15, !7}
!15 = !{!"llvm.loop.unroll.runtime.disable"}
