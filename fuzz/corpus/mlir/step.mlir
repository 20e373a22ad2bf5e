#map = affine_map<(d0, d1) -> (d0, d1)>
module attributes {dtc.attention_exchange = "ring", dtc.mesh = #dtc.mesh<dp:2, tp:2>} {
  dtc.param @w : !dtc.tensor<5(6){tp:2}x6xf32> from "w" [5, 6] view #map dims ["vocab", "embed"] {init = "normal", std = 4.000000e-01 : f64}
  func.func @step(%arg0: !dtc.tensor<4{dp:2}x2xi32> {dtc.dims = ["batch", "seq"], dtc.input = "input_ids"}, %arg1: !dtc.tensor<4{dp:2}x2xi32> {dtc.dims = ["batch", "seq"], dtc.input = "labels"}, %arg2: !dtc.tensor<8xf32> {dtc.input = "optimizer"}) -> (!dtc.tensor<f32> {dtc.output = "loss"}, !dtc.tensor<i32> {dtc.output = "labels"}, !dtc.tensor<f32> {dtc.output = "grad_norm"}, !dtc.tensor<i32> {dtc.output = "skipped"}) {
    %0 = dtc.read param of @w : !dtc.tensor<5(6){tp:2}x6xf32>
    %1 = dtc.f %0 over <dp:2> : (!dtc.tensor<5(6){tp:2}x6xf32>) -> !dtc.tensor<5(6){tp:2}x6xf32, replicate{dp:2}>
    %2 = dtc.count_labels %arg1 : (!dtc.tensor<4{dp:2}x2xi32>) -> !dtc.tensor<i32, partial{dp:2}>
    %3 = dtc.g %2 over <dp:2> : (!dtc.tensor<i32, partial{dp:2}>) -> !dtc.tensor<i32>
    %4 = dtc.f %3 over <dp:2> : (!dtc.tensor<i32>) -> !dtc.tensor<i32, replicate{dp:2}>
    %5 = dtc.constant 1.000000e+00 : () -> !dtc.tensor<f32>
    %6 = dtc.f %5 over <dp:2> : (!dtc.tensor<f32>) -> !dtc.tensor<f32, replicate{dp:2}>
    %7 = dtc.divide %6, %4 : (!dtc.tensor<f32, replicate{dp:2}>, !dtc.tensor<i32, replicate{dp:2}>) -> !dtc.tensor<f32, replicate{dp:2}>
    %8:2 = dtc.micro_batches 2 {
    ^bb0(%arg3: !dtc.tensor<i32>):
      %19 = dtc.f %arg3 over <dp:2> : (!dtc.tensor<i32>) -> !dtc.tensor<i32, replicate{dp:2}>
      %20 = dtc.micro_batch %arg0[%19] parts 2 count 2 : (!dtc.tensor<4{dp:2}x2xi32>, !dtc.tensor<i32, replicate{dp:2}>) -> !dtc.tensor<2{dp:2}x2xi32>
      %21 = dtc.micro_batch %arg1[%19] parts 2 count 2 : (!dtc.tensor<4{dp:2}x2xi32>, !dtc.tensor<i32, replicate{dp:2}>) -> !dtc.tensor<2{dp:2}x2xi32>
      %22 = dtc.f %20 over <tp:2> : (!dtc.tensor<2{dp:2}x2xi32>) -> !dtc.tensor<2{dp:2}x2xi32, replicate{tp:2}>
      %23 = dtc.embedding %1[%22] : (!dtc.tensor<5(6){tp:2}x6xf32, replicate{dp:2}>, !dtc.tensor<2{dp:2}x2xi32, replicate{tp:2}>) -> !dtc.tensor<2{dp:2}x2x6xf32, partial{tp:2}>
      %24 = dtc.g %23 over <tp:2> : (!dtc.tensor<2{dp:2}x2x6xf32, partial{tp:2}>) -> !dtc.tensor<2{dp:2}x2x6xf32>
      %25 = dtc.f %24 over <tp:2> : (!dtc.tensor<2{dp:2}x2x6xf32>) -> !dtc.tensor<2{dp:2}x2x6xf32, replicate{tp:2}>
      %26 = dtc.einsum "bsd,vd->bsv"(%25, %1) : (!dtc.tensor<2{dp:2}x2x6xf32, replicate{tp:2}>, !dtc.tensor<5(6){tp:2}x6xf32, replicate{dp:2}>) -> !dtc.tensor<2{dp:2}x2x5(6){tp:2}xf32>
      %27 = dtc.f %21 over <tp:2> : (!dtc.tensor<2{dp:2}x2xi32>) -> !dtc.tensor<2{dp:2}x2xi32, replicate{tp:2}>
      %28 = dtc.vocab_max %26 : (!dtc.tensor<2{dp:2}x2x5(6){tp:2}xf32>) -> !dtc.tensor<2{dp:2}x2xf32, max{tp:2}>
      %29 = dtc.reduce_max %28 over <tp:2> : (!dtc.tensor<2{dp:2}x2xf32, max{tp:2}>) -> !dtc.tensor<2{dp:2}x2xf32>
      %30 = dtc.f %29 over <tp:2> : (!dtc.tensor<2{dp:2}x2xf32>) -> !dtc.tensor<2{dp:2}x2xf32, replicate{tp:2}>
      %31 = dtc.vocab_sum_exp %26, %30 : (!dtc.tensor<2{dp:2}x2x5(6){tp:2}xf32>, !dtc.tensor<2{dp:2}x2xf32, replicate{tp:2}>) -> !dtc.tensor<2{dp:2}x2xf32, partial{tp:2}>
      %32 = dtc.g %31 over <tp:2> : (!dtc.tensor<2{dp:2}x2xf32, partial{tp:2}>) -> !dtc.tensor<2{dp:2}x2xf32>
      %33 = dtc.vocab_pick %26, %27 : (!dtc.tensor<2{dp:2}x2x5(6){tp:2}xf32>, !dtc.tensor<2{dp:2}x2xi32, replicate{tp:2}>) -> !dtc.tensor<2{dp:2}x2xf32, partial{tp:2}>
      %34 = dtc.g %33 over <tp:2> : (!dtc.tensor<2{dp:2}x2xf32, partial{tp:2}>) -> !dtc.tensor<2{dp:2}x2xf32>
      %loss, %lse = dtc.token_loss %29, %32, %34, %21 : (!dtc.tensor<2{dp:2}x2xf32>, !dtc.tensor<2{dp:2}x2xf32>, !dtc.tensor<2{dp:2}x2xf32>, !dtc.tensor<2{dp:2}x2xi32>) -> (!dtc.tensor<f32, partial{dp:2}>, !dtc.tensor<2{dp:2}x2xf32>)
      %35 = dtc.f %lse over <tp:2> : (!dtc.tensor<2{dp:2}x2xf32>) -> !dtc.tensor<2{dp:2}x2xf32, replicate{tp:2}>
      %36 = dtc.f %7 over <tp:2> : (!dtc.tensor<f32, replicate{dp:2}>) -> !dtc.tensor<f32, replicate{dp:2, tp:2}>
      %37 = dtc.cross_entropy_grad %26, %27, %35, %36 : (!dtc.tensor<2{dp:2}x2x5(6){tp:2}xf32>, !dtc.tensor<2{dp:2}x2xi32, replicate{tp:2}>, !dtc.tensor<2{dp:2}x2xf32, replicate{tp:2}>, !dtc.tensor<f32, replicate{dp:2, tp:2}>) -> !dtc.tensor<2{dp:2}x2x5(6){tp:2}xf32>
      %38 = dtc.einsum "bsv,vd->bsd"(%37, %1) : (!dtc.tensor<2{dp:2}x2x5(6){tp:2}xf32>, !dtc.tensor<5(6){tp:2}x6xf32, replicate{dp:2}>) -> !dtc.tensor<2{dp:2}x2x6xf32, partial{tp:2}>
      %39 = dtc.einsum "bsd,bsv->vd"(%25, %37) : (!dtc.tensor<2{dp:2}x2x6xf32, replicate{tp:2}>, !dtc.tensor<2{dp:2}x2x5(6){tp:2}xf32>) -> !dtc.tensor<5(6){tp:2}x6xf32, partial{dp:2}>
      %40 = dtc.g %38 over <tp:2> : (!dtc.tensor<2{dp:2}x2x6xf32, partial{tp:2}>) -> !dtc.tensor<2{dp:2}x2x6xf32>
      %41 = dtc.f %40 over <tp:2> : (!dtc.tensor<2{dp:2}x2x6xf32>) -> !dtc.tensor<2{dp:2}x2x6xf32, replicate{tp:2}>
      %42 = dtc.embedding_grad %22, %41 : (!dtc.tensor<2{dp:2}x2xi32, replicate{tp:2}>, !dtc.tensor<2{dp:2}x2x6xf32, replicate{tp:2}>) -> !dtc.tensor<5(6){tp:2}x6xf32, partial{dp:2}>
      %43 = dtc.add %39, %42 : (!dtc.tensor<5(6){tp:2}x6xf32, partial{dp:2}>, !dtc.tensor<5(6){tp:2}x6xf32, partial{dp:2}>) -> !dtc.tensor<5(6){tp:2}x6xf32, partial{dp:2}>
      dtc.yield %loss, %43 : !dtc.tensor<f32, partial{dp:2}>, !dtc.tensor<5(6){tp:2}x6xf32, partial{dp:2}>
    } : !dtc.tensor<f32, partial{dp:2}>, !dtc.tensor<5(6){tp:2}x6xf32, partial{dp:2}>
    %9 = dtc.divide %8#0, %4 : (!dtc.tensor<f32, partial{dp:2}>, !dtc.tensor<i32, replicate{dp:2}>) -> !dtc.tensor<f32, partial{dp:2}>
    %10 = dtc.g %9 over <dp:2> : (!dtc.tensor<f32, partial{dp:2}>) -> !dtc.tensor<f32>
    %11 = dtc.g %8#1 over <dp:2> : (!dtc.tensor<5(6){tp:2}x6xf32, partial{dp:2}>) -> !dtc.tensor<5(6){tp:2}x6xf32>
    dtc.write %11 to grad of @w : !dtc.tensor<5(6){tp:2}x6xf32>
    %12 = dtc.sum_squares %11 : (!dtc.tensor<5(6){tp:2}x6xf32>) -> !dtc.tensor<f32, partial{tp:2}>
    %13 = dtc.g %12 over <tp:2> : (!dtc.tensor<f32, partial{tp:2}>) -> !dtc.tensor<f32>
    %norm, %coefficient, %skip = dtc.clip %13, %10, %3, %arg2 : (!dtc.tensor<f32>, !dtc.tensor<f32>, !dtc.tensor<i32>, !dtc.tensor<8xf32>) -> (!dtc.tensor<f32>, !dtc.tensor<f32>, !dtc.tensor<i32>)
    %14 = dtc.read m of @w : !dtc.tensor<5(6){tp:2}x6xf32>
    %15 = dtc.read v of @w : !dtc.tensor<5(6){tp:2}x6xf32>
    %16 = dtc.f %coefficient over <tp:2> : (!dtc.tensor<f32>) -> !dtc.tensor<f32, replicate{tp:2}>
    %17 = dtc.f %skip over <tp:2> : (!dtc.tensor<i32>) -> !dtc.tensor<i32, replicate{tp:2}>
    %18 = dtc.f %arg2 over <tp:2> : (!dtc.tensor<8xf32>) -> !dtc.tensor<8xf32, replicate{tp:2}>
    %new_param, %new_m, %new_v = dtc.adamw %0, %11, %14, %15 with %16, %17, %18 {decay} : (!dtc.tensor<5(6){tp:2}x6xf32>, !dtc.tensor<5(6){tp:2}x6xf32>, !dtc.tensor<5(6){tp:2}x6xf32>, !dtc.tensor<5(6){tp:2}x6xf32>, !dtc.tensor<f32, replicate{tp:2}>, !dtc.tensor<i32, replicate{tp:2}>, !dtc.tensor<8xf32, replicate{tp:2}>) -> (!dtc.tensor<5(6){tp:2}x6xf32>, !dtc.tensor<5(6){tp:2}x6xf32>, !dtc.tensor<5(6){tp:2}x6xf32>)
    dtc.write %new_param to param of @w : !dtc.tensor<5(6){tp:2}x6xf32>
    dtc.write %new_m to m of @w : !dtc.tensor<5(6){tp:2}x6xf32>
    dtc.write %new_v to v of @w : !dtc.tensor<5(6){tp:2}x6xf32>
    return %10, %3, %norm, %skip : !dtc.tensor<f32>, !dtc.tensor<i32>, !dtc.tensor<f32>, !dtc.tensor<i32>
  }
}

