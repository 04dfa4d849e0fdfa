; ModuleID = 'kernel'
source_filename = "kernel"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

%struct.RuntimeContext.63 = type { i8*, %struct.LLVMRuntime.62*, i32, i64* }
%struct.LLVMRuntime.62 = type { %struct.PreallocatedMemoryChunk.57, %struct.PreallocatedMemoryChunk.57, i8* (i8*, i64, i64)*, void (i8*)*, void (i8*, ...)*, i32 (i8*, i64, i8*, %struct.__va_list_tag.58*)*, i8*, [512 x i8*], [512 x i64], i8*, void (i8*, i32, i32, i8*, void (i8*, i32, i32)*)*, [1024 x %struct.ListManager.59*], [1024 x %struct.NodeManager.60*], [1024 x i8*], i8*, %struct.RandState.61*, i8*, void (i8*, i8*)*, void (i8*)*, [2048 x i8], [32 x i64], i32, i64, i8*, i32, i32, i64 }
%struct.PreallocatedMemoryChunk.57 = type { i8*, i8*, i64 }
%struct.__va_list_tag.58 = type { i32, i32, i8*, i8* }
%struct.ListManager.59 = type { [131072 x i8*], i64, i64, i32, i32, i32, %struct.LLVMRuntime.62* }
%struct.NodeManager.60 = type <{ %struct.LLVMRuntime.62*, i32, i32, i32, i32, %struct.ListManager.59*, %struct.ListManager.59*, %struct.ListManager.59*, i32, [4 x i8] }>
%struct.RandState.61 = type { i32, i32, i32, i32, i32 }

; Function Attrs: nofree norecurse nosync nounwind
define void @prefix_sums_of_rows_adjoint_c9_0_kernel_0_serial(%struct.RuntimeContext.63* nocapture readonly %context) local_unnamed_addr #0 {
entry:
  %0 = bitcast %struct.RuntimeContext.63* %context to { { { i32, i32 }, float* } }**
  %1 = load { { { i32, i32 }, float* } }*, { { { i32, i32 }, float* } }** %0, align 8
  %2 = getelementptr { { { i32, i32 }, float* } }, { { { i32, i32 }, float* } }* %1, i64 0, i32 0, i32 0, i32 1
  %3 = load i32, i32* %2, align 4
  %4 = getelementptr { { { i32, i32 }, float* } }, { { { i32, i32 }, float* } }* %1, i64 0, i32 0, i32 1
  %5 = load float*, float** %4, align 8
  %6 = shl i32 %3, 1
  %7 = add i32 %6, 5
  %8 = sext i32 %7 to i64
  %9 = getelementptr float, float* %5, i64 %8
  %10 = load float, float* %9, align 4
  %11 = add i32 %6, 4
  %12 = sext i32 %11 to i64
  %13 = getelementptr float, float* %5, i64 %12
  %14 = load float, float* %13, align 4
  %15 = fmul reassoc ninf nsz float %14, 0x3FB99999A0000000
  %16 = fsub reassoc ninf nsz float %10, %15
  %17 = add i32 %6, 3
  %18 = sext i32 %17 to i64
  %19 = getelementptr float, float* %5, i64 %18
  %20 = load float, float* %19, align 4
  %21 = fmul reassoc ninf nsz float %20, 0x3FB99999A0000000
  %22 = fsub reassoc ninf nsz float %14, %21
  %23 = add i32 %6, 2
  %24 = sext i32 %23 to i64
  %25 = getelementptr float, float* %5, i64 %24
  %26 = load float, float* %25, align 4
  %27 = fmul reassoc ninf nsz float %26, 0x3FB99999A0000000
  %28 = fsub reassoc ninf nsz float %20, %27
  %29 = sext i32 %6 to i64
  %30 = getelementptr float, float* %5, i64 %29
  %31 = getelementptr float, float* %30, i64 1
  %32 = load float, float* %31, align 4
  %33 = fmul reassoc ninf nsz float %32, 0x3FB99999A0000000
  %34 = fsub reassoc ninf nsz float %26, %33
  %35 = load float, float* %30, align 4
  %36 = fmul reassoc ninf nsz float %35, 0x3FB99999A0000000
  %37 = fsub reassoc ninf nsz float %32, %36
  %38 = fmul reassoc ninf nsz float %16, 2.500000e+00
  %39 = fadd reassoc ninf nsz float %22, %38
  %factor.i = fmul reassoc ninf nsz float %39, 2.000000e+00
  %40 = fadd reassoc ninf nsz float %factor.i, %28
  %41 = fmul reassoc ninf nsz float %40, 1.500000e+00
  %42 = fadd reassoc ninf nsz float %41, %34
  %43 = fadd reassoc ninf nsz float %37, %42
  %44 = fmul reassoc ninf nsz float %43, 5.000000e-01
  %45 = fadd reassoc ninf nsz float %44, %35
  %46 = fmul reassoc ninf nsz float %39, 0x3FB99999A0000000
  %47 = fsub reassoc ninf nsz float %16, %46
  store float %47, float* %9, align 4
  %48 = fmul reassoc ninf nsz float %40, 0x3FB99999A0000000
  %49 = fsub reassoc ninf nsz float %39, %48
  %50 = fmul reassoc ninf nsz float %42, 0x3FB99999A0000000
  %51 = fsub reassoc ninf nsz float %40, %50
  %52 = fmul reassoc ninf nsz float %43, 0x3FB99999A0000000
  %53 = fsub reassoc ninf nsz float %42, %52
  %54 = fmul reassoc ninf nsz float %45, 0x3FB99999A0000000
  %55 = fsub reassoc ninf nsz float %43, %54
  %56 = fmul reassoc ninf nsz float %47, 2.500000e+00
  %57 = fadd reassoc ninf nsz float %49, %56
  store float %57, float* %13, align 4
  %factor63.i = fmul reassoc ninf nsz float %57, 2.000000e+00
  %58 = fadd reassoc ninf nsz float %factor63.i, %51
  store float %58, float* %19, align 4
  %59 = fmul reassoc ninf nsz float %58, 1.500000e+00
  %60 = fadd reassoc ninf nsz float %59, %53
  store float %60, float* %25, align 4
  %61 = fadd reassoc ninf nsz float %55, %60
  store float %61, float* %31, align 4
  %62 = fmul reassoc ninf nsz float %61, 5.000000e-01
  %63 = fadd reassoc ninf nsz float %62, %45
  store float %63, float* %30, align 4
  %64 = add i32 %3, 5
  %65 = sext i32 %64 to i64
  %66 = getelementptr float, float* %5, i64 %65
  %67 = load float, float* %66, align 4
  %68 = add i32 %3, 4
  %69 = sext i32 %68 to i64
  %70 = getelementptr float, float* %5, i64 %69
  %71 = load float, float* %70, align 4
  %72 = fmul reassoc ninf nsz float %71, 0x3FB99999A0000000
  %73 = fsub reassoc ninf nsz float %67, %72
  %74 = add i32 %3, 3
  %75 = sext i32 %74 to i64
  %76 = getelementptr float, float* %5, i64 %75
  %77 = load float, float* %76, align 4
  %78 = fmul reassoc ninf nsz float %77, 0x3FB99999A0000000
  %79 = fsub reassoc ninf nsz float %71, %78
  %80 = add i32 %3, 2
  %81 = sext i32 %80 to i64
  %82 = getelementptr float, float* %5, i64 %81
  %83 = load float, float* %82, align 4
  %84 = fmul reassoc ninf nsz float %83, 0x3FB99999A0000000
  %85 = fsub reassoc ninf nsz float %77, %84
  %86 = add i32 %3, 1
  %87 = sext i32 %86 to i64
  %88 = getelementptr float, float* %5, i64 %87
  %89 = load float, float* %88, align 4
  %90 = fmul reassoc ninf nsz float %89, 0x3FB99999A0000000
  %91 = fsub reassoc ninf nsz float %83, %90
  %92 = sext i32 %3 to i64
  %93 = getelementptr float, float* %5, i64 %92
  %94 = load float, float* %93, align 4
  %95 = fmul reassoc ninf nsz float %94, 0x3FB99999A0000000
  %96 = fsub reassoc ninf nsz float %89, %95
  %97 = fmul reassoc ninf nsz float %73, 2.500000e+00
  %98 = fadd reassoc ninf nsz float %79, %97
  %factor.i.1 = fmul reassoc ninf nsz float %98, 2.000000e+00
  %99 = fadd reassoc ninf nsz float %factor.i.1, %85
  %100 = fmul reassoc ninf nsz float %99, 1.500000e+00
  %101 = fadd reassoc ninf nsz float %100, %91
  %102 = fadd reassoc ninf nsz float %96, %101
  %103 = fmul reassoc ninf nsz float %102, 5.000000e-01
  %104 = fadd reassoc ninf nsz float %103, %94
  %105 = fmul reassoc ninf nsz float %98, 0x3FB99999A0000000
  %106 = fsub reassoc ninf nsz float %73, %105
  store float %106, float* %66, align 4
  %107 = fmul reassoc ninf nsz float %99, 0x3FB99999A0000000
  %108 = fsub reassoc ninf nsz float %98, %107
  %109 = fmul reassoc ninf nsz float %101, 0x3FB99999A0000000
  %110 = fsub reassoc ninf nsz float %99, %109
  %111 = fmul reassoc ninf nsz float %102, 0x3FB99999A0000000
  %112 = fsub reassoc ninf nsz float %101, %111
  %113 = fmul reassoc ninf nsz float %104, 0x3FB99999A0000000
  %114 = fsub reassoc ninf nsz float %102, %113
  %115 = fmul reassoc ninf nsz float %106, 2.500000e+00
  %116 = fadd reassoc ninf nsz float %108, %115
  store float %116, float* %70, align 4
  %factor63.i.1 = fmul reassoc ninf nsz float %116, 2.000000e+00
  %117 = fadd reassoc ninf nsz float %factor63.i.1, %110
  store float %117, float* %76, align 4
  %118 = fmul reassoc ninf nsz float %117, 1.500000e+00
  %119 = fadd reassoc ninf nsz float %118, %112
  store float %119, float* %82, align 4
  %120 = fadd reassoc ninf nsz float %114, %119
  store float %120, float* %88, align 4
  %121 = fmul reassoc ninf nsz float %120, 5.000000e-01
  %122 = fadd reassoc ninf nsz float %121, %104
  store float %122, float* %93, align 4
  %123 = getelementptr float, float* %5, i64 5
  %124 = load float, float* %123, align 4
  %125 = getelementptr float, float* %5, i64 4
  %126 = load float, float* %125, align 4
  %127 = fmul reassoc ninf nsz float %126, 0x3FB99999A0000000
  %128 = fsub reassoc ninf nsz float %124, %127
  %129 = getelementptr float, float* %5, i64 3
  %130 = load float, float* %129, align 4
  %131 = fmul reassoc ninf nsz float %130, 0x3FB99999A0000000
  %132 = fsub reassoc ninf nsz float %126, %131
  %133 = getelementptr float, float* %5, i64 2
  %134 = load float, float* %133, align 4
  %135 = fmul reassoc ninf nsz float %134, 0x3FB99999A0000000
  %136 = fsub reassoc ninf nsz float %130, %135
  %137 = getelementptr float, float* %5, i64 1
  %138 = load float, float* %137, align 4
  %139 = fmul reassoc ninf nsz float %138, 0x3FB99999A0000000
  %140 = fsub reassoc ninf nsz float %134, %139
  %141 = load float, float* %5, align 4
  %142 = fmul reassoc ninf nsz float %141, 0x3FB99999A0000000
  %143 = fsub reassoc ninf nsz float %138, %142
  %144 = fmul reassoc ninf nsz float %128, 2.500000e+00
  %145 = fadd reassoc ninf nsz float %132, %144
  %factor.i.2 = fmul reassoc ninf nsz float %145, 2.000000e+00
  %146 = fadd reassoc ninf nsz float %factor.i.2, %136
  %147 = fmul reassoc ninf nsz float %146, 1.500000e+00
  %148 = fadd reassoc ninf nsz float %147, %140
  %149 = fadd reassoc ninf nsz float %143, %148
  %150 = fmul reassoc ninf nsz float %149, 5.000000e-01
  %151 = fadd reassoc ninf nsz float %150, %141
  %152 = fmul reassoc ninf nsz float %145, 0x3FB99999A0000000
  %153 = fsub reassoc ninf nsz float %128, %152
  store float %153, float* %123, align 4
  %154 = fmul reassoc ninf nsz float %146, 0x3FB99999A0000000
  %155 = fsub reassoc ninf nsz float %145, %154
  %156 = fmul reassoc ninf nsz float %148, 0x3FB99999A0000000
  %157 = fsub reassoc ninf nsz float %146, %156
  %158 = fmul reassoc ninf nsz float %149, 0x3FB99999A0000000
  %159 = fsub reassoc ninf nsz float %148, %158
  %160 = fmul reassoc ninf nsz float %151, 0x3FB99999A0000000
  %161 = fsub reassoc ninf nsz float %149, %160
  %162 = fmul reassoc ninf nsz float %153, 2.500000e+00
  %163 = fadd reassoc ninf nsz float %155, %162
  store float %163, float* %125, align 4
  %factor63.i.2 = fmul reassoc ninf nsz float %163, 2.000000e+00
  %164 = fadd reassoc ninf nsz float %factor63.i.2, %157
  store float %164, float* %129, align 4
  %165 = fmul reassoc ninf nsz float %164, 1.500000e+00
  %166 = fadd reassoc ninf nsz float %165, %159
  store float %166, float* %133, align 4
  %167 = fadd reassoc ninf nsz float %161, %166
  store float %167, float* %137, align 4
  %168 = fmul reassoc ninf nsz float %167, 5.000000e-01
  %169 = fadd reassoc ninf nsz float %168, %151
  store float %169, float* %5, align 4
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
