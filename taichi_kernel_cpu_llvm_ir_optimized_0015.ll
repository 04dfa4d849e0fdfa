; ModuleID = 'kernel'
source_filename = "kernel"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

%struct.RuntimeContext.105 = type { i8*, %struct.LLVMRuntime.104*, i32, i64* }
%struct.LLVMRuntime.104 = type { %struct.PreallocatedMemoryChunk.99, %struct.PreallocatedMemoryChunk.99, i8* (i8*, i64, i64)*, void (i8*)*, void (i8*, ...)*, i32 (i8*, i64, i8*, %struct.__va_list_tag.100*)*, i8*, [512 x i8*], [512 x i64], i8*, void (i8*, i32, i32, i8*, void (i8*, i32, i32)*)*, [1024 x %struct.ListManager.101*], [1024 x %struct.NodeManager.102*], [1024 x i8*], i8*, %struct.RandState.103*, i8*, void (i8*, i8*)*, void (i8*)*, [2048 x i8], [32 x i64], i32, i64, i8*, i32, i32, i64 }
%struct.PreallocatedMemoryChunk.99 = type { i8*, i8*, i64 }
%struct.__va_list_tag.100 = type { i32, i32, i8*, i8* }
%struct.ListManager.101 = type { [131072 x i8*], i64, i64, i32, i32, i32, %struct.LLVMRuntime.104* }
%struct.NodeManager.102 = type <{ %struct.LLVMRuntime.104*, i32, i32, i32, i32, %struct.ListManager.101*, %struct.ListManager.101*, %struct.ListManager.101*, i32, [4 x i8] }>
%struct.RandState.103 = type { i32, i32, i32, i32, i32 }

; Function Attrs: nofree norecurse nosync nounwind
define void @difference_used_in_a_loop_adjoint_c15_0_kernel_0_serial(%struct.RuntimeContext.105* nocapture readonly %context) local_unnamed_addr #0 {
entry:
  %0 = bitcast %struct.RuntimeContext.105* %context to { { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* } }**
  %1 = load { { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* } }*, { { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* } }** %0, align 8
  %2 = getelementptr { { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* } }, { { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* } }* %1, i64 0, i32 0, i32 0, i32 0
  %3 = load i32, i32* %2, align 4
  %4 = getelementptr { { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* } }, { { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* } }* %1, i64 0, i32 1, i32 1
  %5 = load float*, float** %4, align 8
  %6 = getelementptr { { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* } }, { { { i32 }, float* }, { { i32 }, float* }, { { i32 }, float* } }* %1, i64 0, i32 2, i32 1
  %7 = load float*, float** %6, align 8
  %8 = add i32 %3, -1
  %9 = icmp sgt i32 %8, 1
  br i1 %9, label %for_loop_body.preheader.i, label %difference_used_in_a_loop_adjoint_body_1048591_0.exit

for_loop_body.preheader.i:                        ; preds = %entry
  %wide.trip.count.i = zext i32 %8 to i64
  %10 = add nsw i64 %wide.trip.count.i, -1
  %min.iters.check = icmp ult i64 %10, 32
  br i1 %min.iters.check, label %for_loop_body.i.preheader, label %vector.scevcheck

vector.scevcheck:                                 ; preds = %for_loop_body.preheader.i
  %11 = add nsw i64 %wide.trip.count.i, -2
  %12 = add i32 %3, -2
  %13 = trunc i64 %11 to i32
  %14 = sub i32 %12, %13
  %15 = icmp sgt i32 %14, %12
  %16 = add i32 %3, -3
  %17 = sub i32 %16, %13
  %18 = icmp sgt i32 %17, %16
  %19 = icmp ugt i64 %11, 4294967295
  %20 = or i1 %18, %19
  %21 = or i1 %15, %20
  br i1 %21, label %for_loop_body.i.preheader, label %vector.memcheck

vector.memcheck:                                  ; preds = %vector.scevcheck
  %22 = sext i32 %12 to i64
  %23 = sub i64 %22, %wide.trip.count.i
  %24 = getelementptr float, float* %7, i64 %23
  %scevgep62 = getelementptr float, float* %24, i64 2
  %25 = getelementptr float, float* %7, i64 %22
  %scevgep1063 = getelementptr float, float* %25, i64 1
  %26 = sext i32 %16 to i64
  %27 = sub i64 %26, %wide.trip.count.i
  %28 = getelementptr float, float* %5, i64 %27
  %scevgep1264 = getelementptr float, float* %28, i64 2
  %29 = getelementptr float, float* %5, i64 %26
  %scevgep1465 = getelementptr float, float* %29, i64 1
  %bound0 = icmp ult float* %scevgep62, %scevgep1465
  %bound1 = icmp ult float* %scevgep1264, %scevgep1063
  %found.conflict = and i1 %bound0, %bound1
  br i1 %found.conflict, label %for_loop_body.i.preheader, label %vector.ph

vector.ph:                                        ; preds = %vector.memcheck
  %n.vec = and i64 %10, -16
  %ind.end = or i64 %n.vec, 1
  %30 = add nsw i64 %n.vec, -16
  %31 = lshr exact i64 %30, 4
  %32 = add nuw nsw i64 %31, 1
  %xtraiter24 = and i64 %32, 7
  %33 = icmp ult i64 %30, 112
  br i1 %33, label %middle.block.unr-lcssa, label %vector.ph.new

vector.ph.new:                                    ; preds = %vector.ph
  %unroll_iter = and i64 %32, 2305843009213693944
  br label %vector.body

vector.body:                                      ; preds = %vector.body, %vector.ph.new
  %lsr.iv60 = phi i64 [ %lsr.iv.next61, %vector.body ], [ %unroll_iter, %vector.ph.new ]
  %lsr.iv58 = phi i32 [ %lsr.iv.next59, %vector.body ], [ %13, %vector.ph.new ]
  %index = phi i64 [ 0, %vector.ph.new ], [ %index.next.7, %vector.body ]
  %34 = add i32 %lsr.iv58, 1
  %35 = sext i32 %34 to i64
  %36 = getelementptr float, float* %7, i64 %35
  %37 = getelementptr float, float* %36, i64 -7
  %38 = bitcast float* %37 to <8 x float>*
  %wide.load = load <8 x float>, <8 x float>* %38, align 4, !alias.scope !6, !noalias !9
  %39 = getelementptr float, float* %36, i64 -8
  %40 = getelementptr float, float* %39, i64 -7
  %41 = bitcast float* %40 to <8 x float>*
  %wide.load16 = load <8 x float>, <8 x float>* %41, align 4, !alias.scope !6, !noalias !9
  store <8 x float> zeroinitializer, <8 x float>* %38, align 4, !alias.scope !6, !noalias !9
  store <8 x float> zeroinitializer, <8 x float>* %41, align 4, !alias.scope !6, !noalias !9
  %42 = sext i32 %lsr.iv58 to i64
  %43 = getelementptr float, float* %5, i64 %42
  %44 = getelementptr float, float* %43, i64 -7
  %45 = bitcast float* %44 to <8 x float>*
  %wide.load18 = load <8 x float>, <8 x float>* %45, align 4, !alias.scope !9
  %46 = getelementptr float, float* %43, i64 -8
  %47 = getelementptr float, float* %46, i64 -7
  %48 = bitcast float* %47 to <8 x float>*
  %wide.load20 = load <8 x float>, <8 x float>* %48, align 4, !alias.scope !9
  %49 = fadd reassoc ninf nsz <8 x float> %wide.load18, %wide.load
  %50 = fadd reassoc ninf nsz <8 x float> %wide.load20, %wide.load16
  store <8 x float> %49, <8 x float>* %45, align 4, !alias.scope !9
  store <8 x float> %50, <8 x float>* %48, align 4, !alias.scope !9
  %tmp56 = trunc i64 %index to i32
  %.neg.1 = xor i32 %tmp56, -17
  %51 = add i32 %8, %.neg.1
  %52 = sext i32 %51 to i64
  %53 = getelementptr float, float* %7, i64 %52
  %54 = getelementptr float, float* %53, i64 -7
  %55 = bitcast float* %54 to <8 x float>*
  %wide.load.1 = load <8 x float>, <8 x float>* %55, align 4, !alias.scope !6, !noalias !9
  %56 = getelementptr float, float* %53, i64 -8
  %57 = getelementptr float, float* %56, i64 -7
  %58 = bitcast float* %57 to <8 x float>*
  %wide.load16.1 = load <8 x float>, <8 x float>* %58, align 4, !alias.scope !6, !noalias !9
  store <8 x float> zeroinitializer, <8 x float>* %55, align 4, !alias.scope !6, !noalias !9
  store <8 x float> zeroinitializer, <8 x float>* %58, align 4, !alias.scope !6, !noalias !9
  %59 = add i32 %51, -1
  %60 = sext i32 %59 to i64
  %61 = getelementptr float, float* %5, i64 %60
  %62 = getelementptr float, float* %61, i64 -7
  %63 = bitcast float* %62 to <8 x float>*
  %wide.load18.1 = load <8 x float>, <8 x float>* %63, align 4, !alias.scope !9
  %64 = getelementptr float, float* %61, i64 -8
  %65 = getelementptr float, float* %64, i64 -7
  %66 = bitcast float* %65 to <8 x float>*
  %wide.load20.1 = load <8 x float>, <8 x float>* %66, align 4, !alias.scope !9
  %67 = fadd reassoc ninf nsz <8 x float> %wide.load18.1, %wide.load.1
  %68 = fadd reassoc ninf nsz <8 x float> %wide.load20.1, %wide.load16.1
  store <8 x float> %67, <8 x float>* %63, align 4, !alias.scope !9
  store <8 x float> %68, <8 x float>* %66, align 4, !alias.scope !9
  %.neg.2 = xor i32 %tmp56, -33
  %69 = add i32 %8, %.neg.2
  %70 = sext i32 %69 to i64
  %71 = getelementptr float, float* %7, i64 %70
  %72 = getelementptr float, float* %71, i64 -7
  %73 = bitcast float* %72 to <8 x float>*
  %wide.load.2 = load <8 x float>, <8 x float>* %73, align 4, !alias.scope !6, !noalias !9
  %74 = getelementptr float, float* %71, i64 -8
  %75 = getelementptr float, float* %74, i64 -7
  %76 = bitcast float* %75 to <8 x float>*
  %wide.load16.2 = load <8 x float>, <8 x float>* %76, align 4, !alias.scope !6, !noalias !9
  store <8 x float> zeroinitializer, <8 x float>* %73, align 4, !alias.scope !6, !noalias !9
  store <8 x float> zeroinitializer, <8 x float>* %76, align 4, !alias.scope !6, !noalias !9
  %77 = add i32 %69, -1
  %78 = sext i32 %77 to i64
  %79 = getelementptr float, float* %5, i64 %78
  %80 = getelementptr float, float* %79, i64 -7
  %81 = bitcast float* %80 to <8 x float>*
  %wide.load18.2 = load <8 x float>, <8 x float>* %81, align 4, !alias.scope !9
  %82 = getelementptr float, float* %79, i64 -8
  %83 = getelementptr float, float* %82, i64 -7
  %84 = bitcast float* %83 to <8 x float>*
  %wide.load20.2 = load <8 x float>, <8 x float>* %84, align 4, !alias.scope !9
  %85 = fadd reassoc ninf nsz <8 x float> %wide.load18.2, %wide.load.2
  %86 = fadd reassoc ninf nsz <8 x float> %wide.load20.2, %wide.load16.2
  store <8 x float> %85, <8 x float>* %81, align 4, !alias.scope !9
  store <8 x float> %86, <8 x float>* %84, align 4, !alias.scope !9
  %.neg.3 = xor i32 %tmp56, -49
  %87 = add i32 %8, %.neg.3
  %88 = sext i32 %87 to i64
  %89 = getelementptr float, float* %7, i64 %88
  %90 = getelementptr float, float* %89, i64 -7
  %91 = bitcast float* %90 to <8 x float>*
  %wide.load.3 = load <8 x float>, <8 x float>* %91, align 4, !alias.scope !6, !noalias !9
  %92 = getelementptr float, float* %89, i64 -8
  %93 = getelementptr float, float* %92, i64 -7
  %94 = bitcast float* %93 to <8 x float>*
  %wide.load16.3 = load <8 x float>, <8 x float>* %94, align 4, !alias.scope !6, !noalias !9
  store <8 x float> zeroinitializer, <8 x float>* %91, align 4, !alias.scope !6, !noalias !9
  store <8 x float> zeroinitializer, <8 x float>* %94, align 4, !alias.scope !6, !noalias !9
  %95 = add i32 %87, -1
  %96 = sext i32 %95 to i64
  %97 = getelementptr float, float* %5, i64 %96
  %98 = getelementptr float, float* %97, i64 -7
  %99 = bitcast float* %98 to <8 x float>*
  %wide.load18.3 = load <8 x float>, <8 x float>* %99, align 4, !alias.scope !9
  %100 = getelementptr float, float* %97, i64 -8
  %101 = getelementptr float, float* %100, i64 -7
  %102 = bitcast float* %101 to <8 x float>*
  %wide.load20.3 = load <8 x float>, <8 x float>* %102, align 4, !alias.scope !9
  %103 = fadd reassoc ninf nsz <8 x float> %wide.load18.3, %wide.load.3
  %104 = fadd reassoc ninf nsz <8 x float> %wide.load20.3, %wide.load16.3
  store <8 x float> %103, <8 x float>* %99, align 4, !alias.scope !9
  store <8 x float> %104, <8 x float>* %102, align 4, !alias.scope !9
  %.neg.4 = xor i32 %tmp56, -65
  %105 = add i32 %8, %.neg.4
  %106 = sext i32 %105 to i64
  %107 = getelementptr float, float* %7, i64 %106
  %108 = getelementptr float, float* %107, i64 -7
  %109 = bitcast float* %108 to <8 x float>*
  %wide.load.4 = load <8 x float>, <8 x float>* %109, align 4, !alias.scope !6, !noalias !9
  %110 = getelementptr float, float* %107, i64 -8
  %111 = getelementptr float, float* %110, i64 -7
  %112 = bitcast float* %111 to <8 x float>*
  %wide.load16.4 = load <8 x float>, <8 x float>* %112, align 4, !alias.scope !6, !noalias !9
  store <8 x float> zeroinitializer, <8 x float>* %109, align 4, !alias.scope !6, !noalias !9
  store <8 x float> zeroinitializer, <8 x float>* %112, align 4, !alias.scope !6, !noalias !9
  %113 = add i32 %105, -1
  %114 = sext i32 %113 to i64
  %115 = getelementptr float, float* %5, i64 %114
  %116 = getelementptr float, float* %115, i64 -7
  %117 = bitcast float* %116 to <8 x float>*
  %wide.load18.4 = load <8 x float>, <8 x float>* %117, align 4, !alias.scope !9
  %118 = getelementptr float, float* %115, i64 -8
  %119 = getelementptr float, float* %118, i64 -7
  %120 = bitcast float* %119 to <8 x float>*
  %wide.load20.4 = load <8 x float>, <8 x float>* %120, align 4, !alias.scope !9
  %121 = fadd reassoc ninf nsz <8 x float> %wide.load18.4, %wide.load.4
  %122 = fadd reassoc ninf nsz <8 x float> %wide.load20.4, %wide.load16.4
  store <8 x float> %121, <8 x float>* %117, align 4, !alias.scope !9
  store <8 x float> %122, <8 x float>* %120, align 4, !alias.scope !9
  %.neg.5 = xor i32 %tmp56, -81
  %123 = add i32 %8, %.neg.5
  %124 = sext i32 %123 to i64
  %125 = getelementptr float, float* %7, i64 %124
  %126 = getelementptr float, float* %125, i64 -7
  %127 = bitcast float* %126 to <8 x float>*
  %wide.load.5 = load <8 x float>, <8 x float>* %127, align 4, !alias.scope !6, !noalias !9
  %128 = getelementptr float, float* %125, i64 -8
  %129 = getelementptr float, float* %128, i64 -7
  %130 = bitcast float* %129 to <8 x float>*
  %wide.load16.5 = load <8 x float>, <8 x float>* %130, align 4, !alias.scope !6, !noalias !9
  store <8 x float> zeroinitializer, <8 x float>* %127, align 4, !alias.scope !6, !noalias !9
  store <8 x float> zeroinitializer, <8 x float>* %130, align 4, !alias.scope !6, !noalias !9
  %131 = add i32 %123, -1
  %132 = sext i32 %131 to i64
  %133 = getelementptr float, float* %5, i64 %132
  %134 = getelementptr float, float* %133, i64 -7
  %135 = bitcast float* %134 to <8 x float>*
  %wide.load18.5 = load <8 x float>, <8 x float>* %135, align 4, !alias.scope !9
  %136 = getelementptr float, float* %133, i64 -8
  %137 = getelementptr float, float* %136, i64 -7
  %138 = bitcast float* %137 to <8 x float>*
  %wide.load20.5 = load <8 x float>, <8 x float>* %138, align 4, !alias.scope !9
  %139 = fadd reassoc ninf nsz <8 x float> %wide.load18.5, %wide.load.5
  %140 = fadd reassoc ninf nsz <8 x float> %wide.load20.5, %wide.load16.5
  store <8 x float> %139, <8 x float>* %135, align 4, !alias.scope !9
  store <8 x float> %140, <8 x float>* %138, align 4, !alias.scope !9
  %.neg.6 = xor i32 %tmp56, -97
  %141 = add i32 %8, %.neg.6
  %142 = sext i32 %141 to i64
  %143 = getelementptr float, float* %7, i64 %142
  %144 = getelementptr float, float* %143, i64 -7
  %145 = bitcast float* %144 to <8 x float>*
  %wide.load.6 = load <8 x float>, <8 x float>* %145, align 4, !alias.scope !6, !noalias !9
  %146 = getelementptr float, float* %143, i64 -8
  %147 = getelementptr float, float* %146, i64 -7
  %148 = bitcast float* %147 to <8 x float>*
  %wide.load16.6 = load <8 x float>, <8 x float>* %148, align 4, !alias.scope !6, !noalias !9
  store <8 x float> zeroinitializer, <8 x float>* %145, align 4, !alias.scope !6, !noalias !9
  store <8 x float> zeroinitializer, <8 x float>* %148, align 4, !alias.scope !6, !noalias !9
  %149 = add i32 %141, -1
  %150 = sext i32 %149 to i64
  %151 = getelementptr float, float* %5, i64 %150
  %152 = getelementptr float, float* %151, i64 -7
  %153 = bitcast float* %152 to <8 x float>*
  %wide.load18.6 = load <8 x float>, <8 x float>* %153, align 4, !alias.scope !9
  %154 = getelementptr float, float* %151, i64 -8
  %155 = getelementptr float, float* %154, i64 -7
  %156 = bitcast float* %155 to <8 x float>*
  %wide.load20.6 = load <8 x float>, <8 x float>* %156, align 4, !alias.scope !9
  %157 = fadd reassoc ninf nsz <8 x float> %wide.load18.6, %wide.load.6
  %158 = fadd reassoc ninf nsz <8 x float> %wide.load20.6, %wide.load16.6
  store <8 x float> %157, <8 x float>* %153, align 4, !alias.scope !9
  store <8 x float> %158, <8 x float>* %156, align 4, !alias.scope !9
  %.neg.7 = xor i32 %tmp56, -113
  %159 = add i32 %8, %.neg.7
  %160 = sext i32 %159 to i64
  %161 = getelementptr float, float* %7, i64 %160
  %162 = getelementptr float, float* %161, i64 -7
  %163 = bitcast float* %162 to <8 x float>*
  %wide.load.7 = load <8 x float>, <8 x float>* %163, align 4, !alias.scope !6, !noalias !9
  %164 = getelementptr float, float* %161, i64 -8
  %165 = getelementptr float, float* %164, i64 -7
  %166 = bitcast float* %165 to <8 x float>*
  %wide.load16.7 = load <8 x float>, <8 x float>* %166, align 4, !alias.scope !6, !noalias !9
  store <8 x float> zeroinitializer, <8 x float>* %163, align 4, !alias.scope !6, !noalias !9
  store <8 x float> zeroinitializer, <8 x float>* %166, align 4, !alias.scope !6, !noalias !9
  %167 = add i32 %159, -1
  %168 = sext i32 %167 to i64
  %169 = getelementptr float, float* %5, i64 %168
  %170 = getelementptr float, float* %169, i64 -7
  %171 = bitcast float* %170 to <8 x float>*
  %wide.load18.7 = load <8 x float>, <8 x float>* %171, align 4, !alias.scope !9
  %172 = getelementptr float, float* %169, i64 -8
  %173 = getelementptr float, float* %172, i64 -7
  %174 = bitcast float* %173 to <8 x float>*
  %wide.load20.7 = load <8 x float>, <8 x float>* %174, align 4, !alias.scope !9
  %175 = fadd reassoc ninf nsz <8 x float> %wide.load18.7, %wide.load.7
  %176 = fadd reassoc ninf nsz <8 x float> %wide.load20.7, %wide.load16.7
  store <8 x float> %175, <8 x float>* %171, align 4, !alias.scope !9
  store <8 x float> %176, <8 x float>* %174, align 4, !alias.scope !9
  %index.next.7 = add i64 %index, 128
  %lsr.iv.next59 = add i32 %lsr.iv58, -128
  %lsr.iv.next61 = add i64 %lsr.iv60, -8
  %niter.ncmp.7 = icmp eq i64 %lsr.iv.next61, 0
  br i1 %niter.ncmp.7, label %middle.block.unr-lcssa.loopexit, label %vector.body, !llvm.loop !11

middle.block.unr-lcssa.loopexit:                  ; preds = %vector.body
  br label %middle.block.unr-lcssa

middle.block.unr-lcssa:                           ; preds = %middle.block.unr-lcssa.loopexit, %vector.ph
  %index.unr = phi i64 [ 0, %vector.ph ], [ %index.next.7, %middle.block.unr-lcssa.loopexit ]
  %lcmp.mod25.not = icmp eq i64 %xtraiter24, 0
  br i1 %lcmp.mod25.not, label %middle.block, label %vector.body.epil.preheader

vector.body.epil.preheader:                       ; preds = %middle.block.unr-lcssa
  %177 = trunc i64 %index.unr to i32
  %178 = sub i32 %16, %177
  br label %vector.body.epil

vector.body.epil:                                 ; preds = %vector.body.epil.preheader, %vector.body.epil
  %lsr.iv49 = phi i64 [ %xtraiter24, %vector.body.epil.preheader ], [ %lsr.iv.next50, %vector.body.epil ]
  %lsr.iv47 = phi i32 [ %178, %vector.body.epil.preheader ], [ %lsr.iv.next48, %vector.body.epil ]
  %179 = add i32 %lsr.iv47, 1
  %180 = sext i32 %179 to i64
  %181 = getelementptr float, float* %7, i64 %180
  %182 = getelementptr float, float* %181, i64 -7
  %183 = bitcast float* %182 to <8 x float>*
  %wide.load.epil = load <8 x float>, <8 x float>* %183, align 4, !alias.scope !6, !noalias !9
  %184 = getelementptr float, float* %181, i64 -8
  %185 = getelementptr float, float* %184, i64 -7
  %186 = bitcast float* %185 to <8 x float>*
  %wide.load16.epil = load <8 x float>, <8 x float>* %186, align 4, !alias.scope !6, !noalias !9
  store <8 x float> zeroinitializer, <8 x float>* %183, align 4, !alias.scope !6, !noalias !9
  store <8 x float> zeroinitializer, <8 x float>* %186, align 4, !alias.scope !6, !noalias !9
  %187 = sext i32 %lsr.iv47 to i64
  %188 = getelementptr float, float* %5, i64 %187
  %189 = getelementptr float, float* %188, i64 -7
  %190 = bitcast float* %189 to <8 x float>*
  %wide.load18.epil = load <8 x float>, <8 x float>* %190, align 4, !alias.scope !9
  %191 = getelementptr float, float* %188, i64 -8
  %192 = getelementptr float, float* %191, i64 -7
  %193 = bitcast float* %192 to <8 x float>*
  %wide.load20.epil = load <8 x float>, <8 x float>* %193, align 4, !alias.scope !9
  %194 = fadd reassoc ninf nsz <8 x float> %wide.load18.epil, %wide.load.epil
  %195 = fadd reassoc ninf nsz <8 x float> %wide.load20.epil, %wide.load16.epil
  store <8 x float> %194, <8 x float>* %190, align 4, !alias.scope !9
  store <8 x float> %195, <8 x float>* %193, align 4, !alias.scope !9
  %lsr.iv.next48 = add i32 %lsr.iv47, -16
  %lsr.iv.next50 = add nsw i64 %lsr.iv49, -1
  %epil.iter.cmp.not = icmp eq i64 %lsr.iv.next50, 0
  br i1 %epil.iter.cmp.not, label %middle.block.loopexit, label %vector.body.epil, !llvm.loop !13

middle.block.loopexit:                            ; preds = %vector.body.epil
  br label %middle.block

middle.block:                                     ; preds = %middle.block.loopexit, %middle.block.unr-lcssa
  %cmp.n = icmp eq i64 %10, %n.vec
  br i1 %cmp.n, label %difference_used_in_a_loop_adjoint_body_1048591_0.exit, label %for_loop_body.i.preheader

for_loop_body.i.preheader:                        ; preds = %vector.memcheck, %vector.scevcheck, %for_loop_body.preheader.i, %middle.block
  %indvars.iv.i.ph = phi i64 [ 1, %vector.memcheck ], [ 1, %vector.scevcheck ], [ 1, %for_loop_body.preheader.i ], [ %ind.end, %middle.block ]
  %196 = sub nsw i64 %wide.trip.count.i, %indvars.iv.i.ph
  %197 = xor i64 %indvars.iv.i.ph, -1
  %198 = add nsw i64 %197, %wide.trip.count.i
  %xtraiter = and i64 %196, 7
  %lcmp.mod.not = icmp eq i64 %xtraiter, 0
  br i1 %lcmp.mod.not, label %for_loop_body.i.prol.loopexit, label %for_loop_body.i.prol.preheader

for_loop_body.i.prol.preheader:                   ; preds = %for_loop_body.i.preheader
  %199 = add i32 %3, -2
  %200 = trunc i64 %indvars.iv.i.ph to i32
  %201 = sub i32 %199, %200
  %202 = zext i32 %201 to i64
  %203 = sub i32 %8, %200
  %204 = zext i32 %203 to i64
  %205 = sub i64 0, %xtraiter
  br label %for_loop_body.i.prol

for_loop_body.i.prol:                             ; preds = %for_loop_body.i.prol.preheader, %for_loop_body.i.prol
  %lsr.iv43 = phi i64 [ 0, %for_loop_body.i.prol.preheader ], [ %lsr.iv.next44, %for_loop_body.i.prol ]
  %206 = add nsw i64 %204, %lsr.iv43
  %tmp46 = trunc i64 %206 to i32
  %207 = sext i32 %tmp46 to i64
  %208 = getelementptr float, float* %7, i64 %207
  %209 = load float, float* %208, align 4
  store float 0.000000e+00, float* %208, align 4
  %210 = add nsw i64 %202, %lsr.iv43
  %tmp45 = trunc i64 %210 to i32
  %211 = sext i32 %tmp45 to i64
  %212 = getelementptr float, float* %5, i64 %211
  %213 = load float, float* %212, align 4
  %214 = fadd reassoc ninf nsz float %213, %209
  store float %214, float* %212, align 4
  %lsr.iv.next44 = add nsw i64 %lsr.iv43, -1
  %prol.iter.cmp.not = icmp eq i64 %205, %lsr.iv.next44
  br i1 %prol.iter.cmp.not, label %for_loop_body.i.prol.loopexit.loopexit, label %for_loop_body.i.prol, !llvm.loop !15

for_loop_body.i.prol.loopexit.loopexit:           ; preds = %for_loop_body.i.prol
  %215 = sub i64 %indvars.iv.i.ph, %lsr.iv.next44
  br label %for_loop_body.i.prol.loopexit

for_loop_body.i.prol.loopexit:                    ; preds = %for_loop_body.i.prol.loopexit.loopexit, %for_loop_body.i.preheader
  %indvars.iv.i.unr = phi i64 [ %indvars.iv.i.ph, %for_loop_body.i.preheader ], [ %215, %for_loop_body.i.prol.loopexit.loopexit ]
  %216 = icmp ult i64 %198, 7
  br i1 %216, label %difference_used_in_a_loop_adjoint_body_1048591_0.exit, label %for_loop_body.i.preheader27

for_loop_body.i.preheader27:                      ; preds = %for_loop_body.i.prol.loopexit
  %217 = add i32 %3, -9
  %218 = trunc i64 %indvars.iv.i.unr to i32
  %219 = sub i32 %217, %218
  %220 = zext i32 %219 to i64
  %221 = add i32 %3, -8
  %222 = sub i32 %221, %218
  %223 = zext i32 %222 to i64
  %224 = add i32 %3, -7
  %225 = sub i32 %224, %218
  %226 = zext i32 %225 to i64
  %227 = add i32 %3, -6
  %228 = sub i32 %227, %218
  %229 = zext i32 %228 to i64
  %230 = add i32 %3, -5
  %231 = sub i32 %230, %218
  %232 = zext i32 %231 to i64
  %233 = add i32 %3, -4
  %234 = sub i32 %233, %218
  %235 = zext i32 %234 to i64
  %236 = add i32 %3, -3
  %237 = sub i32 %236, %218
  %238 = zext i32 %237 to i64
  %239 = add i32 %3, -2
  %240 = sub i32 %239, %218
  %241 = zext i32 %240 to i64
  %242 = sub i64 %indvars.iv.i.unr, %wide.trip.count.i
  %243 = sub i32 %8, %218
  %244 = zext i32 %243 to i64
  br label %for_loop_body.i

for_loop_body.i:                                  ; preds = %for_loop_body.i.preheader27, %for_loop_body.i
  %lsr.iv = phi i64 [ 0, %for_loop_body.i.preheader27 ], [ %lsr.iv.next, %for_loop_body.i ]
  %245 = add i64 %244, %lsr.iv
  %tmp42 = trunc i64 %245 to i32
  %246 = sext i32 %tmp42 to i64
  %247 = getelementptr float, float* %7, i64 %246
  %248 = load float, float* %247, align 4
  store float 0.000000e+00, float* %247, align 4
  %249 = add i64 %241, %lsr.iv
  %tmp41 = trunc i64 %249 to i32
  %250 = sext i32 %tmp41 to i64
  %251 = getelementptr float, float* %5, i64 %250
  %252 = load float, float* %251, align 4
  %253 = fadd reassoc ninf nsz float %252, %248
  store float %253, float* %251, align 4
  %254 = getelementptr float, float* %7, i64 %250
  %255 = load float, float* %254, align 4
  store float 0.000000e+00, float* %254, align 4
  %256 = add i64 %238, %lsr.iv
  %tmp39 = trunc i64 %256 to i32
  %257 = sext i32 %tmp39 to i64
  %258 = getelementptr float, float* %5, i64 %257
  %259 = load float, float* %258, align 4
  %260 = fadd reassoc ninf nsz float %259, %255
  store float %260, float* %258, align 4
  %261 = getelementptr float, float* %7, i64 %257
  %262 = load float, float* %261, align 4
  store float 0.000000e+00, float* %261, align 4
  %263 = add i64 %235, %lsr.iv
  %tmp37 = trunc i64 %263 to i32
  %264 = sext i32 %tmp37 to i64
  %265 = getelementptr float, float* %5, i64 %264
  %266 = load float, float* %265, align 4
  %267 = fadd reassoc ninf nsz float %266, %262
  store float %267, float* %265, align 4
  %268 = getelementptr float, float* %7, i64 %264
  %269 = load float, float* %268, align 4
  store float 0.000000e+00, float* %268, align 4
  %270 = add i64 %232, %lsr.iv
  %tmp35 = trunc i64 %270 to i32
  %271 = sext i32 %tmp35 to i64
  %272 = getelementptr float, float* %5, i64 %271
  %273 = load float, float* %272, align 4
  %274 = fadd reassoc ninf nsz float %273, %269
  store float %274, float* %272, align 4
  %275 = getelementptr float, float* %7, i64 %271
  %276 = load float, float* %275, align 4
  store float 0.000000e+00, float* %275, align 4
  %277 = add i64 %229, %lsr.iv
  %tmp33 = trunc i64 %277 to i32
  %278 = sext i32 %tmp33 to i64
  %279 = getelementptr float, float* %5, i64 %278
  %280 = load float, float* %279, align 4
  %281 = fadd reassoc ninf nsz float %280, %276
  store float %281, float* %279, align 4
  %282 = getelementptr float, float* %7, i64 %278
  %283 = load float, float* %282, align 4
  store float 0.000000e+00, float* %282, align 4
  %284 = add i64 %226, %lsr.iv
  %tmp31 = trunc i64 %284 to i32
  %285 = sext i32 %tmp31 to i64
  %286 = getelementptr float, float* %5, i64 %285
  %287 = load float, float* %286, align 4
  %288 = fadd reassoc ninf nsz float %287, %283
  store float %288, float* %286, align 4
  %289 = getelementptr float, float* %7, i64 %285
  %290 = load float, float* %289, align 4
  store float 0.000000e+00, float* %289, align 4
  %291 = add i64 %223, %lsr.iv
  %tmp29 = trunc i64 %291 to i32
  %292 = sext i32 %tmp29 to i64
  %293 = getelementptr float, float* %5, i64 %292
  %294 = load float, float* %293, align 4
  %295 = fadd reassoc ninf nsz float %294, %290
  store float %295, float* %293, align 4
  %296 = getelementptr float, float* %7, i64 %292
  %297 = load float, float* %296, align 4
  store float 0.000000e+00, float* %296, align 4
  %298 = add i64 %220, %lsr.iv
  %tmp = trunc i64 %298 to i32
  %299 = sext i32 %tmp to i64
  %300 = getelementptr float, float* %5, i64 %299
  %301 = load float, float* %300, align 4
  %302 = fadd reassoc ninf nsz float %301, %297
  store float %302, float* %300, align 4
  %lsr.iv.next = add i64 %lsr.iv, -8
  %exitcond.not.i.7 = icmp eq i64 %242, %lsr.iv.next
  br i1 %exitcond.not.i.7, label %difference_used_in_a_loop_adjoint_body_1048591_0.exit.loopexit, label %for_loop_body.i, !llvm.loop !16

difference_used_in_a_loop_adjoint_body_1048591_0.exit.loopexit: ; preds = %for_loop_body.i
  br label %difference_used_in_a_loop_adjoint_body_1048591_0.exit

difference_used_in_a_loop_adjoint_body_1048591_0.exit: ; preds = %difference_used_in_a_loop_adjoint_body_1048591_0.exit.loopexit, %for_loop_body.i.prol.loopexit, %middle.block, %entry
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
!6 = !{!7}
!7 = distinct !{!7, !8}
!8 = distinct !{!8, !"LVerDomain"}
!9 = !{!10}
!10 = distinct !{!10, !8}
!11 = distinct !{!11, !12}
!12 = !{!"llvm.loop.isvectorized", i32 1}
!13 = distinct !{!13, !14}
!14 = !{!"llvm.loop.unroll.disable"}
!15 = distinct !{!15, !14}
!16 = distinct !{!16, !12}
