; ModuleID = 'kernel'
source_filename = "kernel"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

%struct.RuntimeContext.56 = type { i8*, %struct.LLVMRuntime.55*, i32, i64* }
%struct.LLVMRuntime.55 = type { %struct.PreallocatedMemoryChunk.50, %struct.PreallocatedMemoryChunk.50, i8* (i8*, i64, i64)*, void (i8*)*, void (i8*, ...)*, i32 (i8*, i64, i8*, %struct.__va_list_tag.51*)*, i8*, [512 x i8*], [512 x i64], i8*, void (i8*, i32, i32, i8*, void (i8*, i32, i32)*)*, [1024 x %struct.ListManager.52*], [1024 x %struct.NodeManager.53*], [1024 x i8*], i8*, %struct.RandState.54*, i8*, void (i8*, i8*)*, void (i8*)*, [2048 x i8], [32 x i64], i32, i64, i8*, i32, i32, i64 }
%struct.PreallocatedMemoryChunk.50 = type { i8*, i8*, i64 }
%struct.__va_list_tag.51 = type { i32, i32, i8*, i8* }
%struct.ListManager.52 = type { [131072 x i8*], i64, i64, i32, i32, i32, %struct.LLVMRuntime.55* }
%struct.NodeManager.53 = type <{ %struct.LLVMRuntime.55*, i32, i32, i32, i32, %struct.ListManager.52*, %struct.ListManager.52*, %struct.ListManager.52*, i32, [4 x i8] }>
%struct.RandState.54 = type { i32, i32, i32, i32, i32 }

; Function Attrs: nofree norecurse nosync nounwind
define void @prefix_sums_of_rows_c8_0_kernel_0_serial(%struct.RuntimeContext.56* nocapture readonly %context) local_unnamed_addr #0 {
entry:
  %0 = bitcast %struct.RuntimeContext.56* %context to { { { i32, i32 }, float* } }**
  %1 = load { { { i32, i32 }, float* } }*, { { { i32, i32 }, float* } }** %0, align 8
  %2 = getelementptr { { { i32, i32 }, float* } }, { { { i32, i32 }, float* } }* %1, i64 0, i32 0, i32 0, i32 1
  %3 = load i32, i32* %2, align 4
  %4 = getelementptr { { { i32, i32 }, float* } }, { { { i32, i32 }, float* } }* %1, i64 0, i32 0, i32 1
  %5 = load float*, float** %4, align 8
  %6 = getelementptr float, float* %5, i64 1
  %7 = load float, float* %6, align 4
  %8 = load float, float* %5, align 4
  %9 = fmul reassoc ninf nsz float %8, 5.000000e-01
  %10 = fadd reassoc ninf nsz float %9, %7
  %11 = getelementptr float, float* %5, i64 2
  %12 = load float, float* %11, align 4
  %13 = fadd reassoc ninf nsz float %12, %10
  %14 = getelementptr float, float* %5, i64 3
  %15 = load float, float* %14, align 4
  %16 = fmul reassoc ninf nsz float %13, 1.500000e+00
  %17 = fadd reassoc ninf nsz float %15, %16
  %18 = getelementptr float, float* %5, i64 4
  %19 = load float, float* %18, align 4
  %factor.i = fmul reassoc ninf nsz float %17, 2.000000e+00
  %20 = fadd reassoc ninf nsz float %19, %factor.i
  %21 = getelementptr float, float* %5, i64 5
  %22 = load float, float* %21, align 4
  %23 = fmul reassoc ninf nsz float %20, 2.500000e+00
  %24 = fadd reassoc ninf nsz float %22, %23
  %25 = fmul reassoc ninf nsz float %10, 0x3FB99999A0000000
  %26 = fmul reassoc ninf nsz float %13, 0x3FB99999A0000000
  %27 = fsub reassoc ninf nsz float %10, %26
  %28 = fmul reassoc ninf nsz float %17, 0x3FB99999A0000000
  %29 = fsub reassoc ninf nsz float %13, %28
  %30 = fmul reassoc ninf nsz float %20, 0x3FB99999A0000000
  %31 = fsub reassoc ninf nsz float %17, %30
  %32 = fmul reassoc ninf nsz float %24, 0x3FB99999A0000000
  %33 = fsub reassoc ninf nsz float %20, %32
  %34 = fsub reassoc ninf nsz float %8, %25
  %35 = fmul reassoc ninf nsz float %34, 5.000000e-01
  %36 = fadd reassoc ninf nsz float %35, %27
  %37 = fadd reassoc ninf nsz float %29, %36
  %38 = fmul reassoc ninf nsz float %37, 1.500000e+00
  %39 = fadd reassoc ninf nsz float %31, %38
  %factor3.i = fmul reassoc ninf nsz float %39, 2.000000e+00
  %40 = fadd reassoc ninf nsz float %factor3.i, %33
  %41 = fmul reassoc ninf nsz float %40, 2.500000e+00
  %42 = fadd reassoc ninf nsz float %41, %24
  store float %42, float* %21, align 4
  %43 = insertelement <4 x float> poison, float %36, i64 0
  %44 = insertelement <4 x float> %43, float %37, i64 1
  %45 = insertelement <4 x float> %44, float %39, i64 2
  %46 = insertelement <4 x float> %45, float %40, i64 3
  %47 = fmul reassoc ninf nsz <4 x float> %46, <float 0x3FB99999A0000000, float 0x3FB99999A0000000, float 0x3FB99999A0000000, float 0x3FB99999A0000000>
  %48 = insertelement <4 x float> poison, float %34, i64 0
  %49 = insertelement <4 x float> %48, float %36, i64 1
  %50 = insertelement <4 x float> %49, float %37, i64 2
  %51 = insertelement <4 x float> %50, float %39, i64 3
  %52 = fsub reassoc ninf nsz <4 x float> %51, %47
  %53 = bitcast float* %5 to <4 x float>*
  store <4 x float> %52, <4 x float>* %53, align 4
  %54 = fmul reassoc ninf nsz float %42, 0x3FB99999A0000000
  %55 = fsub reassoc ninf nsz float %40, %54
  store float %55, float* %18, align 4
  %56 = add i32 %3, 1
  %57 = sext i32 %56 to i64
  %58 = getelementptr float, float* %5, i64 %57
  %59 = load float, float* %58, align 4
  %60 = sext i32 %3 to i64
  %61 = getelementptr float, float* %5, i64 %60
  %62 = load float, float* %61, align 4
  %63 = fmul reassoc ninf nsz float %62, 5.000000e-01
  %64 = fadd reassoc ninf nsz float %63, %59
  %65 = add i32 %3, 2
  %66 = sext i32 %65 to i64
  %67 = getelementptr float, float* %5, i64 %66
  %68 = load float, float* %67, align 4
  %69 = fadd reassoc ninf nsz float %68, %64
  %70 = add i32 %3, 3
  %71 = sext i32 %70 to i64
  %72 = getelementptr float, float* %5, i64 %71
  %73 = load float, float* %72, align 4
  %74 = fmul reassoc ninf nsz float %69, 1.500000e+00
  %75 = fadd reassoc ninf nsz float %73, %74
  %76 = add i32 %3, 4
  %77 = sext i32 %76 to i64
  %78 = getelementptr float, float* %5, i64 %77
  %79 = load float, float* %78, align 4
  %factor.i.1 = fmul reassoc ninf nsz float %75, 2.000000e+00
  %80 = fadd reassoc ninf nsz float %79, %factor.i.1
  %81 = add i32 %3, 5
  %82 = sext i32 %81 to i64
  %83 = getelementptr float, float* %5, i64 %82
  %84 = load float, float* %83, align 4
  %85 = fmul reassoc ninf nsz float %80, 2.500000e+00
  %86 = fadd reassoc ninf nsz float %84, %85
  %87 = fmul reassoc ninf nsz float %64, 0x3FB99999A0000000
  %88 = fsub reassoc ninf nsz float %62, %87
  %89 = fmul reassoc ninf nsz float %69, 0x3FB99999A0000000
  %90 = fsub reassoc ninf nsz float %64, %89
  %91 = fmul reassoc ninf nsz float %75, 0x3FB99999A0000000
  %92 = fsub reassoc ninf nsz float %69, %91
  %93 = fmul reassoc ninf nsz float %80, 0x3FB99999A0000000
  %94 = fsub reassoc ninf nsz float %75, %93
  %95 = fmul reassoc ninf nsz float %86, 0x3FB99999A0000000
  %96 = fsub reassoc ninf nsz float %80, %95
  %97 = fmul reassoc ninf nsz float %88, 5.000000e-01
  %98 = fadd reassoc ninf nsz float %97, %90
  %99 = fadd reassoc ninf nsz float %92, %98
  %100 = fmul reassoc ninf nsz float %99, 1.500000e+00
  %101 = fadd reassoc ninf nsz float %94, %100
  %factor3.i.1 = fmul reassoc ninf nsz float %101, 2.000000e+00
  %102 = fadd reassoc ninf nsz float %factor3.i.1, %96
  %103 = fmul reassoc ninf nsz float %102, 2.500000e+00
  %104 = fadd reassoc ninf nsz float %103, %86
  store float %104, float* %83, align 4
  %105 = fmul reassoc ninf nsz float %98, 0x3FB99999A0000000
  %106 = fsub reassoc ninf nsz float %88, %105
  store float %106, float* %61, align 4
  %107 = fmul reassoc ninf nsz float %99, 0x3FB99999A0000000
  %108 = fsub reassoc ninf nsz float %98, %107
  store float %108, float* %58, align 4
  %109 = fmul reassoc ninf nsz float %101, 0x3FB99999A0000000
  %110 = fsub reassoc ninf nsz float %99, %109
  store float %110, float* %67, align 4
  %111 = fmul reassoc ninf nsz float %102, 0x3FB99999A0000000
  %112 = fsub reassoc ninf nsz float %101, %111
  store float %112, float* %72, align 4
  %113 = fmul reassoc ninf nsz float %104, 0x3FB99999A0000000
  %114 = fsub reassoc ninf nsz float %102, %113
  store float %114, float* %78, align 4
  %115 = shl i32 %3, 1
  %116 = sext i32 %115 to i64
  %117 = getelementptr float, float* %5, i64 %116
  %118 = getelementptr float, float* %117, i64 1
  %119 = load float, float* %118, align 4
  %120 = load float, float* %117, align 4
  %121 = fmul reassoc ninf nsz float %120, 5.000000e-01
  %122 = fadd reassoc ninf nsz float %121, %119
  %123 = add i32 %115, 2
  %124 = sext i32 %123 to i64
  %125 = getelementptr float, float* %5, i64 %124
  %126 = load float, float* %125, align 4
  %127 = fadd reassoc ninf nsz float %126, %122
  %128 = add i32 %115, 3
  %129 = sext i32 %128 to i64
  %130 = getelementptr float, float* %5, i64 %129
  %131 = load float, float* %130, align 4
  %132 = fmul reassoc ninf nsz float %127, 1.500000e+00
  %133 = fadd reassoc ninf nsz float %131, %132
  %134 = add i32 %115, 4
  %135 = sext i32 %134 to i64
  %136 = getelementptr float, float* %5, i64 %135
  %137 = load float, float* %136, align 4
  %factor.i.2 = fmul reassoc ninf nsz float %133, 2.000000e+00
  %138 = fadd reassoc ninf nsz float %137, %factor.i.2
  %139 = add i32 %115, 5
  %140 = sext i32 %139 to i64
  %141 = getelementptr float, float* %5, i64 %140
  %142 = load float, float* %141, align 4
  %143 = fmul reassoc ninf nsz float %138, 2.500000e+00
  %144 = fadd reassoc ninf nsz float %142, %143
  %145 = fmul reassoc ninf nsz float %122, 0x3FB99999A0000000
  %146 = fmul reassoc ninf nsz float %127, 0x3FB99999A0000000
  %147 = fsub reassoc ninf nsz float %122, %146
  %148 = fmul reassoc ninf nsz float %133, 0x3FB99999A0000000
  %149 = fsub reassoc ninf nsz float %127, %148
  %150 = fmul reassoc ninf nsz float %138, 0x3FB99999A0000000
  %151 = fsub reassoc ninf nsz float %133, %150
  %152 = fmul reassoc ninf nsz float %144, 0x3FB99999A0000000
  %153 = fsub reassoc ninf nsz float %138, %152
  %154 = fsub reassoc ninf nsz float %120, %145
  %155 = fmul reassoc ninf nsz float %154, 5.000000e-01
  %156 = fadd reassoc ninf nsz float %155, %147
  %157 = fadd reassoc ninf nsz float %149, %156
  %158 = fmul reassoc ninf nsz float %157, 1.500000e+00
  %159 = fadd reassoc ninf nsz float %151, %158
  %factor3.i.2 = fmul reassoc ninf nsz float %159, 2.000000e+00
  %160 = fadd reassoc ninf nsz float %factor3.i.2, %153
  %161 = fmul reassoc ninf nsz float %160, 2.500000e+00
  %162 = fadd reassoc ninf nsz float %161, %144
  store float %162, float* %141, align 4
  %163 = insertelement <2 x float> poison, float %156, i64 0
  %164 = insertelement <2 x float> %163, float %157, i64 1
  %165 = fmul reassoc ninf nsz <2 x float> %164, <float 0x3FB99999A0000000, float 0x3FB99999A0000000>
  %166 = insertelement <2 x float> poison, float %154, i64 0
  %167 = insertelement <2 x float> %166, float %156, i64 1
  %168 = fsub reassoc ninf nsz <2 x float> %167, %165
  %169 = bitcast float* %117 to <2 x float>*
  store <2 x float> %168, <2 x float>* %169, align 4
  %170 = insertelement <2 x float> poison, float %159, i64 0
  %171 = insertelement <2 x float> %170, float %160, i64 1
  %172 = fmul reassoc ninf nsz <2 x float> %171, <float 0x3FB99999A0000000, float 0x3FB99999A0000000>
  %173 = insertelement <2 x float> poison, float %157, i64 0
  %174 = insertelement <2 x float> %173, float %159, i64 1
  %175 = fsub reassoc ninf nsz <2 x float> %174, %172
  %176 = bitcast float* %125 to <2 x float>*
  store <2 x float> %175, <2 x float>* %176, align 4
  %177 = fmul reassoc ninf nsz float %162, 0x3FB99999A0000000
  %178 = fsub reassoc ninf nsz float %160, %177
  store float %178, float* %136, align 4
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
