// RUN: dtc-opt %s -dtc-lower-to-runtime | FileCheck %s
// RUN: dtc-opt %s -dtc-lower-to-runtime -dtc-plan-memory=check=true -o /dev/null

// More than one micro-batch is a loop: sums start at zero and are added to in
// place.

module {
  func.func @step(%x: !dtc.tensor<8x4xf32> {dtc.input = "input_ids"}) -> (!dtc.tensor<4xf32> {dtc.output = "loss"}) {
    // CHECK-DAG: %[[X:.*]] = rt.address @input.input_ids
    // CHECK-DAG: %[[SUM:.*]] = rt.address @output.loss
    // CHECK: rt.fill %[[SUM]] with 0.000000e+00
    // CHECK: scf.for %[[I:.*]] = %{{.*}} to
    // CHECK: rt.set_index %[[I]] into %[[M:.*]] : memref<i32>
    %sum = dtc.micro_batches 4 {
    ^bb0(%m: !dtc.tensor<i32>):
      // CHECK: rt.launch @{{.*}} ins(%[[X]], %[[M]] : {{.*}}) outs(%[[XM:.*]] : memref<2x4xf32>)
      %xm = dtc.micro_batch %x[%m] parts 1 count 4 : (!dtc.tensor<8x4xf32>, !dtc.tensor<i32>) -> !dtc.tensor<2x4xf32>
      // CHECK: rt.launch @{{.*}} ins(%[[XM]] : memref<2x4xf32>) outs(%[[Y:.*]] : memref<4xf32>)
      %y = dtc.reduce_sum %xm over [0] : (!dtc.tensor<2x4xf32>) -> !dtc.tensor<4xf32>
      // CHECK: rt.launch @[[ADD:.*]] ins(%[[SUM]], %[[Y]] : {{.*}}) outs(%[[SUM]]
      dtc.yield %y : !dtc.tensor<4xf32>
    } : !dtc.tensor<4xf32>
    // The sum's two arguments are one buffer.
    // CHECK: func.func private @[[ADD]](%{{.*}}: memref<4xf32>, %{{.*}}: memref<4xf32> {rt.noalias}, %{{.*}}: memref<4xf32>) attributes {rt.kernel, rt.label = "add {{.*}}"}
    return %sum : !dtc.tensor<4xf32>
  }
}
