// The ops that the generated tests of this folder run: one function each, whose
// last op is the one under test (ops before it compute values that it expects,
// such as a saved log-sum-exp). A new op is covered by a function here.
//
// Lengths are small, and where padding is allowed meshes of 2 and 3 do not
// divide them. Floats are drawn from a normal distribution unless `test.data`
// says more; integers need it:
//   "below N"      uniform in [0, N)
//   "labels N"     likewise, some of them ignored (-100)
//   "permutation"  of 0, 1, ... along the last dimension
//   "documents"    runs of equal numbers along the last dimension
//   "iota"         0, 1, 2, ...
//   "value X"      X everywhere
//   "positive"     at least 0.1
//   "optimizer"    the scalars that dtc.clip lists

//===----------------------------------------------------------------------===//
// Model ops
//===----------------------------------------------------------------------===//

func.func @einsum_matmul(%x: !dtc.tensor<3x5xf64>, %y: !dtc.tensor<5x7xf64>) -> !dtc.tensor<3x7xf64> {
  %z = dtc.einsum "bk,kn->bn"(%x, %y) : (!dtc.tensor<3x5xf64>, !dtc.tensor<5x7xf64>) -> !dtc.tensor<3x7xf64>
  return %z : !dtc.tensor<3x7xf64>
}
func.func @einsum_heads(%x: !dtc.tensor<2x3x5xf64>, %y: !dtc.tensor<5x3x2xf64>) -> !dtc.tensor<2x3x3x2xf64> {
  %z = dtc.einsum "bsd,dhe->bshe"(%x, %y) : (!dtc.tensor<2x3x5xf64>, !dtc.tensor<5x3x2xf64>) -> !dtc.tensor<2x3x3x2xf64>
  return %z : !dtc.tensor<2x3x3x2xf64>
}
func.func @einsum_join_heads(%x: !dtc.tensor<2x3x3x2xf64>, %y: !dtc.tensor<3x2x5xf64>) -> !dtc.tensor<2x3x5xf64> {
  %z = dtc.einsum "bshe,hed->bsd"(%x, %y) : (!dtc.tensor<2x3x3x2xf64>, !dtc.tensor<3x2x5xf64>) -> !dtc.tensor<2x3x5xf64>
  return %z : !dtc.tensor<2x3x5xf64>
}
func.func @einsum_rows(%x: !dtc.tensor<3x5xf64>, %y: !dtc.tensor<3x5xf64>) -> !dtc.tensor<3xf64> {
  %z = dtc.einsum "bk,bk->b"(%x, %y) : (!dtc.tensor<3x5xf64>, !dtc.tensor<3x5xf64>) -> !dtc.tensor<3xf64>
  return %z : !dtc.tensor<3xf64>
}
// Letters of one operand alone, which sums over them.
func.func @einsum_alone(%x: !dtc.tensor<3x5x2xf64>, %y: !dtc.tensor<5x7xf64>) -> !dtc.tensor<3x5xf64> {
  %z = dtc.einsum "bsk,sn->bs"(%x, %y) : (!dtc.tensor<3x5x2xf64>, !dtc.tensor<5x7xf64>) -> !dtc.tensor<3x5xf64>
  return %z : !dtc.tensor<3x5xf64>
}
func.func @einsum_scalar(%x: !dtc.tensor<3x5xf64>, %y: !dtc.tensor<3x5xf64>) -> !dtc.tensor<f64> {
  %z = dtc.einsum "bs,bs->"(%x, %y) : (!dtc.tensor<3x5xf64>, !dtc.tensor<3x5xf64>) -> !dtc.tensor<f64>
  return %z : !dtc.tensor<f64>
}
func.func @einsum_outer(%x: !dtc.tensor<3xf64>, %y: !dtc.tensor<5xf64>) -> !dtc.tensor<5x3xf64> {
  %z = dtc.einsum "a,b->ba"(%x, %y) : (!dtc.tensor<3xf64>, !dtc.tensor<5xf64>) -> !dtc.tensor<5x3xf64>
  return %z : !dtc.tensor<5x3xf64>
}

func.func @add(%x: !dtc.tensor<3x7xf64>, %y: !dtc.tensor<3x7xf64>) -> !dtc.tensor<3x7xf64> {
  %z = dtc.add %x, %y : (!dtc.tensor<3x7xf64>, !dtc.tensor<3x7xf64>) -> !dtc.tensor<3x7xf64>
  return %z : !dtc.tensor<3x7xf64>
}
func.func @add_bias(%x: !dtc.tensor<3x7xf64>, %y: !dtc.tensor<7xf64>) -> !dtc.tensor<3x7xf64> {
  %z = dtc.add %x, %y : (!dtc.tensor<3x7xf64>, !dtc.tensor<7xf64>) -> !dtc.tensor<3x7xf64>
  return %z : !dtc.tensor<3x7xf64>
}
func.func @add_dims(%x: !dtc.tensor<2x5x3xf64>, %y: !dtc.tensor<2x3xf64>) -> !dtc.tensor<2x5x3xf64> {
  %z = dtc.add %x, %y {rhs_dims = array<i64: 0, 2>} : (!dtc.tensor<2x5x3xf64>, !dtc.tensor<2x3xf64>) -> !dtc.tensor<2x5x3xf64>
  return %z : !dtc.tensor<2x5x3xf64>
}
func.func @add_integers(%x: !dtc.tensor<5xi32> {test.data = "below 9"}, %y: !dtc.tensor<i32> {test.data = "value 3"}) -> !dtc.tensor<5xi32> {
  %z = dtc.add %x, %y : (!dtc.tensor<5xi32>, !dtc.tensor<i32>) -> !dtc.tensor<5xi32>
  return %z : !dtc.tensor<5xi32>
}

func.func @multiply(%x: !dtc.tensor<3x7xf64>, %y: !dtc.tensor<3x7xf64>) -> !dtc.tensor<3x7xf64> {
  %z = dtc.multiply %x, %y : (!dtc.tensor<3x7xf64>, !dtc.tensor<3x7xf64>) -> !dtc.tensor<3x7xf64>
  return %z : !dtc.tensor<3x7xf64>
}
func.func @scale(%x: !dtc.tensor<3x7xf64>) -> !dtc.tensor<3x7xf64> {
  %z = dtc.scale %x by -3.0e-01 : (!dtc.tensor<3x7xf64>) -> !dtc.tensor<3x7xf64>
  return %z : !dtc.tensor<3x7xf64>
}
func.func @convert(%x: !dtc.tensor<3x7xf64>) -> !dtc.tensor<3x7xf32> {
  %z = dtc.convert %x : (!dtc.tensor<3x7xf64>) -> !dtc.tensor<3x7xf32>
  return %z : !dtc.tensor<3x7xf32>
}
func.func @divide(%x: !dtc.tensor<3x7xf64>, %n: !dtc.tensor<i32> {test.data = "value 7"}) -> !dtc.tensor<3x7xf64> {
  %z = dtc.divide %x, %n : (!dtc.tensor<3x7xf64>, !dtc.tensor<i32>) -> !dtc.tensor<3x7xf64>
  return %z : !dtc.tensor<3x7xf64>
}
func.func @divide_by_none(%x: !dtc.tensor<f64>, %n: !dtc.tensor<i32> {test.data = "value 0"}) -> !dtc.tensor<f64> {
  %z = dtc.divide %x, %n : (!dtc.tensor<f64>, !dtc.tensor<i32>) -> !dtc.tensor<f64>
  return %z : !dtc.tensor<f64>
}

func.func @reduce_sum(%x: !dtc.tensor<3x5x7xf64>) -> !dtc.tensor<5xf64> {
  %z = dtc.reduce_sum %x over [0, 2] : (!dtc.tensor<3x5x7xf64>) -> !dtc.tensor<5xf64>
  return %z : !dtc.tensor<5xf64>
}
func.func @reduce_sum_all(%x: !dtc.tensor<3x5xf64>) -> !dtc.tensor<f64> {
  %z = dtc.reduce_sum %x over [0, 1] : (!dtc.tensor<3x5xf64>) -> !dtc.tensor<f64>
  return %z : !dtc.tensor<f64>
}
func.func @broadcast(%x: !dtc.tensor<5xf64>) -> !dtc.tensor<3x5x2xf64> {
  %z = dtc.broadcast %x along [0, 2] : (!dtc.tensor<5xf64>) -> !dtc.tensor<3x5x2xf64>
  return %z : !dtc.tensor<3x5x2xf64>
}
func.func @broadcast_scalar(%x: !dtc.tensor<f64>) -> !dtc.tensor<5xf64> {
  %z = dtc.broadcast %x along [0] : (!dtc.tensor<f64>) -> !dtc.tensor<5xf64>
  return %z : !dtc.tensor<5xf64>
}

func.func @embedding(%table: !dtc.tensor<5x7xf64>, %ids: !dtc.tensor<3x5xi32> {test.data = "below 5"}) -> !dtc.tensor<3x5x7xf64> {
  %z = dtc.embedding %table[%ids] : (!dtc.tensor<5x7xf64>, !dtc.tensor<3x5xi32>) -> !dtc.tensor<3x5x7xf64>
  return %z : !dtc.tensor<3x5x7xf64>
}
func.func @embedding_positions(%table: !dtc.tensor<7x3xf64>, %ids: !dtc.tensor<5xi32> {test.data = "permutation"}) -> !dtc.tensor<5x3xf64> {
  %z = dtc.embedding %table[%ids] : (!dtc.tensor<7x3xf64>, !dtc.tensor<5xi32>) -> !dtc.tensor<5x3xf64>
  return %z : !dtc.tensor<5x3xf64>
}

func.func @layer_norm(%x: !dtc.tensor<3x5x4xf64>, %gamma: !dtc.tensor<4xf64>, %beta: !dtc.tensor<4xf64>) -> !dtc.tensor<3x5x4xf64> {
  %z = dtc.layer_norm %x, %gamma, %beta {epsilon = 1.0e-02} : (!dtc.tensor<3x5x4xf64>, !dtc.tensor<4xf64>, !dtc.tensor<4xf64>) -> !dtc.tensor<3x5x4xf64>
  return %z : !dtc.tensor<3x5x4xf64>
}
func.func @rms_norm(%x: !dtc.tensor<3x5x4xf64>, %gamma: !dtc.tensor<4xf64>) -> !dtc.tensor<3x5x4xf64> {
  %z = dtc.rms_norm %x, %gamma {epsilon = 1.0e-02} : (!dtc.tensor<3x5x4xf64>, !dtc.tensor<4xf64>) -> !dtc.tensor<3x5x4xf64>
  return %z : !dtc.tensor<3x5x4xf64>
}

func.func @activation_gelu_tanh(%x: !dtc.tensor<3x7xf64>) -> !dtc.tensor<3x7xf64> {
  %z = dtc.activation gelu_tanh %x : (!dtc.tensor<3x7xf64>) -> !dtc.tensor<3x7xf64>
  return %z : !dtc.tensor<3x7xf64>
}
func.func @activation_gelu(%x: !dtc.tensor<3x7xf64>) -> !dtc.tensor<3x7xf64> {
  %z = dtc.activation gelu %x : (!dtc.tensor<3x7xf64>) -> !dtc.tensor<3x7xf64>
  return %z : !dtc.tensor<3x7xf64>
}
func.func @activation_silu(%x: !dtc.tensor<3x7xf64>) -> !dtc.tensor<3x7xf64> {
  %z = dtc.activation silu %x : (!dtc.tensor<3x7xf64>) -> !dtc.tensor<3x7xf64>
  return %z : !dtc.tensor<3x7xf64>
}
func.func @gated_product_silu(%gate: !dtc.tensor<3x7xf64>, %up: !dtc.tensor<3x7xf64>) -> !dtc.tensor<3x7xf64> {
  %z = dtc.gated_product silu %gate, %up : (!dtc.tensor<3x7xf64>, !dtc.tensor<3x7xf64>) -> !dtc.tensor<3x7xf64>
  return %z : !dtc.tensor<3x7xf64>
}
func.func @gated_product_gelu(%gate: !dtc.tensor<5xf64>, %up: !dtc.tensor<5xf64>) -> !dtc.tensor<5xf64> {
  %z = dtc.gated_product gelu_tanh %gate, %up : (!dtc.tensor<5xf64>, !dtc.tensor<5xf64>) -> !dtc.tensor<5xf64>
  return %z : !dtc.tensor<5xf64>
}

func.func @rotary(%x: !dtc.tensor<3x5x2x4xf64>, %positions: !dtc.tensor<5xi32> {test.data = "permutation"}) -> !dtc.tensor<3x5x2x4xf64> {
  %z = dtc.rotary %x, %positions {theta = 1.0e+02} : (!dtc.tensor<3x5x2x4xf64>, !dtc.tensor<5xi32>) -> !dtc.tensor<3x5x2x4xf64>
  return %z : !dtc.tensor<3x5x2x4xf64>
}
func.func @rotary_batch(%x: !dtc.tensor<3x5x2x4xf64>, %positions: !dtc.tensor<3x5xi32> {test.data = "permutation"}) -> !dtc.tensor<3x5x2x4xf64> {
  %z = dtc.rotary %x, %positions {theta = 1.0e+02, inverse} : (!dtc.tensor<3x5x2x4xf64>, !dtc.tensor<3x5xi32>) -> !dtc.tensor<3x5x2x4xf64>
  return %z : !dtc.tensor<3x5x2x4xf64>
}

func.func @attention_causal(%q: !dtc.tensor<2x6x4x2xf64>, %k: !dtc.tensor<2x6x2x2xf64>, %v: !dtc.tensor<2x6x2x2xf64>,
                            %p: !dtc.tensor<6xi32> {test.data = "permutation"}) -> (!dtc.tensor<2x6x4x2xf64>, !dtc.tensor<2x6x4xf64>) {
  %o, %lse = dtc.attention %q, %k, %v at %p, %p {causal, scale = 7.0e-01} : (!dtc.tensor<2x6x4x2xf64>, !dtc.tensor<2x6x2x2xf64>, !dtc.tensor<2x6x2x2xf64>, !dtc.tensor<6xi32>, !dtc.tensor<6xi32>) -> (!dtc.tensor<2x6x4x2xf64>, !dtc.tensor<2x6x4xf64>)
  return %o, %lse : !dtc.tensor<2x6x4x2xf64>, !dtc.tensor<2x6x4xf64>
}
// More groups than pieces of an axis, and one member each; keys differ in number from queries.
func.func @attention_full(%q: !dtc.tensor<2x2x4x3xf64>, %k: !dtc.tensor<2x4x4x3xf64>, %v: !dtc.tensor<2x4x4x3xf64>,
                          %p: !dtc.tensor<2xi32> {test.data = "permutation"}, %r: !dtc.tensor<4xi32> {test.data = "permutation"}) -> (!dtc.tensor<2x2x4x3xf64>, !dtc.tensor<2x2x4xf64>) {
  %o, %lse = dtc.attention %q, %k, %v at %p, %r {scale = 1.0} : (!dtc.tensor<2x2x4x3xf64>, !dtc.tensor<2x4x4x3xf64>, !dtc.tensor<2x4x4x3xf64>, !dtc.tensor<2xi32>, !dtc.tensor<4xi32>) -> (!dtc.tensor<2x2x4x3xf64>, !dtc.tensor<2x2x4xf64>)
  return %o, %lse : !dtc.tensor<2x2x4x3xf64>, !dtc.tensor<2x2x4xf64>
}
// One group of many members: the axes of the heads go past it.
func.func @attention_documents(%q: !dtc.tensor<2x4x4x2xf64>, %k: !dtc.tensor<2x4x1x2xf64>, %v: !dtc.tensor<2x4x1x2xf64>,
                               %p: !dtc.tensor<2x4xi32> {test.data = "permutation"}, %d: !dtc.tensor<2x4xi32> {test.data = "documents"}) -> (!dtc.tensor<2x4x4x2xf64>, !dtc.tensor<2x4x4xf64>) {
  %o, %lse = dtc.attention %q, %k, %v at %p, %p documents %d, %d {causal, scale = 1.0} : (!dtc.tensor<2x4x4x2xf64>, !dtc.tensor<2x4x1x2xf64>, !dtc.tensor<2x4x1x2xf64>, !dtc.tensor<2x4xi32>, !dtc.tensor<2x4xi32>, !dtc.tensor<2x4xi32>, !dtc.tensor<2x4xi32>) -> (!dtc.tensor<2x4x4x2xf64>, !dtc.tensor<2x4x4xf64>)
  return %o, %lse : !dtc.tensor<2x4x4x2xf64>, !dtc.tensor<2x4x4xf64>
}
func.func @attention_dropout(%q: !dtc.tensor<2x4x4x2xf64>, %k: !dtc.tensor<2x4x2x2xf64>, %v: !dtc.tensor<2x4x2x2xf64>,
                             %p: !dtc.tensor<4xi32> {test.data = "permutation"}, %rng: !dtc.tensor<2xi32> {test.data = "below 1000"},
                             %layer: !dtc.tensor<i32> {test.data = "value 3"}, %rows: !dtc.tensor<2xi32> {test.data = "iota"}) -> (!dtc.tensor<2x4x4x2xf64>, !dtc.tensor<2x4x4xf64>) {
  %o, %lse = dtc.attention %q, %k, %v at %p, %p random %rng, %layer, %rows {causal, scale = 1.0, dropout = 3.0e-01, site = 2} : (!dtc.tensor<2x4x4x2xf64>, !dtc.tensor<2x4x2x2xf64>, !dtc.tensor<2x4x2x2xf64>, !dtc.tensor<4xi32>, !dtc.tensor<4xi32>, !dtc.tensor<2xi32>, !dtc.tensor<i32>, !dtc.tensor<2xi32>) -> (!dtc.tensor<2x4x4x2xf64>, !dtc.tensor<2x4x4xf64>)
  return %o, %lse : !dtc.tensor<2x4x4x2xf64>, !dtc.tensor<2x4x4xf64>
}

func.func @dropout(%x: !dtc.tensor<3x5x7xf64>, %rng: !dtc.tensor<2xi32> {test.data = "below 1000"}, %layer: !dtc.tensor<i32> {test.data = "value 3"},
                   %rows: !dtc.tensor<3xi32> {test.data = "iota"}, %p: !dtc.tensor<5xi32> {test.data = "permutation"}) -> !dtc.tensor<3x5x7xf64> {
  %z = dtc.dropout %x random %rng, %layer, %rows, %p {p = 4.0e-01, site = 1} : (!dtc.tensor<3x5x7xf64>, !dtc.tensor<2xi32>, !dtc.tensor<i32>, !dtc.tensor<3xi32>, !dtc.tensor<5xi32>) -> !dtc.tensor<3x5x7xf64>
  return %z : !dtc.tensor<3x5x7xf64>
}
func.func @dropout_batch(%x: !dtc.tensor<3x5x2xf64>, %rng: !dtc.tensor<2xi32> {test.data = "below 1000"}, %layer: !dtc.tensor<i32> {test.data = "value -1"},
                         %rows: !dtc.tensor<3xi32> {test.data = "iota"}, %p: !dtc.tensor<3x5xi32> {test.data = "permutation"}) -> !dtc.tensor<3x5x2xf64> {
  %z = dtc.dropout %x random %rng, %layer, %rows, %p {p = 4.0e-01, site = 1} : (!dtc.tensor<3x5x2xf64>, !dtc.tensor<2xi32>, !dtc.tensor<i32>, !dtc.tensor<3xi32>, !dtc.tensor<3x5xi32>) -> !dtc.tensor<3x5x2xf64>
  return %z : !dtc.tensor<3x5x2xf64>
}

func.func @cross_entropy(%logits: !dtc.tensor<3x5x7xf64>, %labels: !dtc.tensor<3x5xi32> {test.data = "labels 7"}) -> (!dtc.tensor<f64>, !dtc.tensor<3x5xf64>) {
  %loss, %lse = dtc.cross_entropy %logits, %labels : (!dtc.tensor<3x5x7xf64>, !dtc.tensor<3x5xi32>) -> (!dtc.tensor<f64>, !dtc.tensor<3x5xf64>)
  return %loss, %lse : !dtc.tensor<f64>, !dtc.tensor<3x5xf64>
}
func.func @cross_entropy_smoothed(%logits: !dtc.tensor<3x5x7xf64>, %labels: !dtc.tensor<3x5xi32> {test.data = "labels 7"}) -> (!dtc.tensor<f64>, !dtc.tensor<3x5xf64>) {
  %loss, %lse = dtc.cross_entropy %logits, %labels {label_smoothing = 2.0e-01} : (!dtc.tensor<3x5x7xf64>, !dtc.tensor<3x5xi32>) -> (!dtc.tensor<f64>, !dtc.tensor<3x5xf64>)
  return %loss, %lse : !dtc.tensor<f64>, !dtc.tensor<3x5xf64>
}
// Some ranks have no token, and no piece of the vocabulary.
func.func @cross_entropy_tiny(%logits: !dtc.tensor<1x1x2xf64>, %labels: !dtc.tensor<1x1xi32> {test.data = "value 1"}) -> (!dtc.tensor<f64>, !dtc.tensor<1x1xf64>) {
  %loss, %lse = dtc.cross_entropy %logits, %labels : (!dtc.tensor<1x1x2xf64>, !dtc.tensor<1x1xi32>) -> (!dtc.tensor<f64>, !dtc.tensor<1x1xf64>)
  return %loss, %lse : !dtc.tensor<f64>, !dtc.tensor<1x1xf64>
}
func.func @count_labels(%labels: !dtc.tensor<3x5xi32> {test.data = "labels 7"}) -> !dtc.tensor<i32> {
  %n = dtc.count_labels %labels : (!dtc.tensor<3x5xi32>) -> !dtc.tensor<i32>
  return %n : !dtc.tensor<i32>
}
func.func @iota() -> !dtc.tensor<5xi32> {
  %n = dtc.iota : () -> !dtc.tensor<5xi32>
  return %n : !dtc.tensor<5xi32>
}
func.func @constant() -> !dtc.tensor<3x5xf64> {
  %n = dtc.constant 2.5 : () -> !dtc.tensor<3x5xf64>
  return %n : !dtc.tensor<3x5xf64>
}
func.func @constant_zero() -> !dtc.tensor<5xf64> {
  %n = dtc.constant 0.0 : () -> !dtc.tensor<5xf64>
  return %n : !dtc.tensor<5xf64>
}

//===----------------------------------------------------------------------===//
// Derivatives
//===----------------------------------------------------------------------===//

func.func @activation_grad(%x: !dtc.tensor<3x7xf64>, %dy: !dtc.tensor<3x7xf64>) -> !dtc.tensor<3x7xf64> {
  %z = dtc.activation_grad gelu_tanh %x, %dy : (!dtc.tensor<3x7xf64>, !dtc.tensor<3x7xf64>) -> !dtc.tensor<3x7xf64>
  return %z : !dtc.tensor<3x7xf64>
}
func.func @gated_product_grad(%gate: !dtc.tensor<3x7xf64>, %up: !dtc.tensor<3x7xf64>, %dy: !dtc.tensor<3x7xf64>) -> (!dtc.tensor<3x7xf64>, !dtc.tensor<3x7xf64>) {
  %dgate, %dup = dtc.gated_product_grad silu %gate, %up, %dy : (!dtc.tensor<3x7xf64>, !dtc.tensor<3x7xf64>, !dtc.tensor<3x7xf64>) -> (!dtc.tensor<3x7xf64>, !dtc.tensor<3x7xf64>)
  return %dgate, %dup : !dtc.tensor<3x7xf64>, !dtc.tensor<3x7xf64>
}
func.func @layer_norm_grad(%x: !dtc.tensor<3x5x4xf64>, %gamma: !dtc.tensor<4xf64>, %dy: !dtc.tensor<3x5x4xf64>) -> (!dtc.tensor<3x5x4xf64>, !dtc.tensor<4xf64>, !dtc.tensor<4xf64>) {
  %dx, %dg, %db = dtc.layer_norm_grad %x, %gamma, %dy {epsilon = 1.0e-02} : (!dtc.tensor<3x5x4xf64>, !dtc.tensor<4xf64>, !dtc.tensor<3x5x4xf64>) -> (!dtc.tensor<3x5x4xf64>, !dtc.tensor<4xf64>, !dtc.tensor<4xf64>)
  return %dx, %dg, %db : !dtc.tensor<3x5x4xf64>, !dtc.tensor<4xf64>, !dtc.tensor<4xf64>
}
func.func @rms_norm_grad(%x: !dtc.tensor<3x5x4xf64>, %gamma: !dtc.tensor<4xf64>, %dy: !dtc.tensor<3x5x4xf64>) -> (!dtc.tensor<3x5x4xf64>, !dtc.tensor<4xf64>) {
  %dx, %dg = dtc.rms_norm_grad %x, %gamma, %dy {epsilon = 1.0e-02} : (!dtc.tensor<3x5x4xf64>, !dtc.tensor<4xf64>, !dtc.tensor<3x5x4xf64>) -> (!dtc.tensor<3x5x4xf64>, !dtc.tensor<4xf64>)
  return %dx, %dg : !dtc.tensor<3x5x4xf64>, !dtc.tensor<4xf64>
}
func.func @embedding_grad(%ids: !dtc.tensor<3x5xi32> {test.data = "below 5"}, %dx: !dtc.tensor<3x5x7xf64>) -> !dtc.tensor<5x7xf64> {
  %z = dtc.embedding_grad %ids, %dx : (!dtc.tensor<3x5xi32>, !dtc.tensor<3x5x7xf64>) -> !dtc.tensor<5x7xf64>
  return %z : !dtc.tensor<5x7xf64>
}
func.func @attention_grad(%q: !dtc.tensor<2x6x4x2xf64>, %k: !dtc.tensor<2x6x2x2xf64>, %v: !dtc.tensor<2x6x2x2xf64>,
                          %p: !dtc.tensor<6xi32> {test.data = "permutation"}, %do: !dtc.tensor<2x6x4x2xf64>) -> (!dtc.tensor<2x6x4x2xf64>, !dtc.tensor<2x6x2x2xf64>, !dtc.tensor<2x6x2x2xf64>) {
  %o, %lse = dtc.attention %q, %k, %v at %p, %p {causal, scale = 7.0e-01} : (!dtc.tensor<2x6x4x2xf64>, !dtc.tensor<2x6x2x2xf64>, !dtc.tensor<2x6x2x2xf64>, !dtc.tensor<6xi32>, !dtc.tensor<6xi32>) -> (!dtc.tensor<2x6x4x2xf64>, !dtc.tensor<2x6x4xf64>)
  %dq, %dk, %dv = dtc.attention_grad %q, %k, %v at %p, %p of %o, %lse, %do {causal, scale = 7.0e-01} : (!dtc.tensor<2x6x4x2xf64>, !dtc.tensor<2x6x2x2xf64>, !dtc.tensor<2x6x2x2xf64>, !dtc.tensor<6xi32>, !dtc.tensor<6xi32>, !dtc.tensor<2x6x4x2xf64>, !dtc.tensor<2x6x4xf64>, !dtc.tensor<2x6x4x2xf64>) -> (!dtc.tensor<2x6x4x2xf64>, !dtc.tensor<2x6x2x2xf64>, !dtc.tensor<2x6x2x2xf64>)
  return %dq, %dk, %dv : !dtc.tensor<2x6x4x2xf64>, !dtc.tensor<2x6x2x2xf64>, !dtc.tensor<2x6x2x2xf64>
}
func.func @attention_grad_local(%q: !dtc.tensor<2x4x4x2xf64>, %k: !dtc.tensor<2x4x2x2xf64>, %v: !dtc.tensor<2x4x2x2xf64>,
                                %p: !dtc.tensor<4xi32> {test.data = "permutation"}, %do: !dtc.tensor<2x4x4x2xf64>) -> (!dtc.tensor<2x4x4x2xf64>, !dtc.tensor<2x4x2x2xf64>, !dtc.tensor<2x4x2x2xf64>) {
  %o, %lse = dtc.attention %q, %k, %v at %p, %p {causal, scale = 7.0e-01} : (!dtc.tensor<2x4x4x2xf64>, !dtc.tensor<2x4x2x2xf64>, !dtc.tensor<2x4x2x2xf64>, !dtc.tensor<4xi32>, !dtc.tensor<4xi32>) -> (!dtc.tensor<2x4x4x2xf64>, !dtc.tensor<2x4x4xf64>)
  %dq, %dk, %dv = dtc.attention_grad %q, %k, %v at %p, %p of %o, %lse, %do {causal, scale = 7.0e-01, local} : (!dtc.tensor<2x4x4x2xf64>, !dtc.tensor<2x4x2x2xf64>, !dtc.tensor<2x4x2x2xf64>, !dtc.tensor<4xi32>, !dtc.tensor<4xi32>, !dtc.tensor<2x4x4x2xf64>, !dtc.tensor<2x4x4xf64>, !dtc.tensor<2x4x4x2xf64>) -> (!dtc.tensor<2x4x4x2xf64>, !dtc.tensor<2x4x2x2xf64>, !dtc.tensor<2x4x2x2xf64>)
  return %dq, %dk, %dv : !dtc.tensor<2x4x4x2xf64>, !dtc.tensor<2x4x2x2xf64>, !dtc.tensor<2x4x2x2xf64>
}
func.func @cross_entropy_grad(%logits: !dtc.tensor<3x5x7xf64>, %labels: !dtc.tensor<3x5xi32> {test.data = "labels 7"}, %dloss: !dtc.tensor<f64>) -> !dtc.tensor<3x5x7xf64> {
  %loss, %lse = dtc.cross_entropy %logits, %labels {label_smoothing = 2.0e-01} : (!dtc.tensor<3x5x7xf64>, !dtc.tensor<3x5xi32>) -> (!dtc.tensor<f64>, !dtc.tensor<3x5xf64>)
  %z = dtc.cross_entropy_grad %logits, %labels, %lse, %dloss {label_smoothing = 2.0e-01} : (!dtc.tensor<3x5x7xf64>, !dtc.tensor<3x5xi32>, !dtc.tensor<3x5xf64>, !dtc.tensor<f64>) -> !dtc.tensor<3x5x7xf64>
  return %z : !dtc.tensor<3x5x7xf64>
}

//===----------------------------------------------------------------------===//
// The sequence as an axis
//===----------------------------------------------------------------------===//

func.func @permute_striped(%x: !dtc.tensor<3x12xi32> {test.data = "below 100"}) -> !dtc.tensor<3x12xi32> {
  %z = dtc.permute striped %x dim 1 parts 4 : (!dtc.tensor<3x12xi32>) -> !dtc.tensor<3x12xi32>
  return %z : !dtc.tensor<3x12xi32>
}
func.func @repad(%x: !dtc.tensor<3x5x7xf64>) -> !dtc.tensor<3x5x7xf64> {
  %z = dtc.repad %x dim 1 : (!dtc.tensor<3x5x7xf64>) -> !dtc.tensor<3x5x7xf64>
  return %z : !dtc.tensor<3x5x7xf64>
}
func.func @permute_zigzag(%x: !dtc.tensor<12x5xi32> {test.data = "below 100"}) -> !dtc.tensor<12x5xi32> {
  %z = dtc.permute zigzag %x dim 0 parts 3 : (!dtc.tensor<12x5xi32>) -> !dtc.tensor<12x5xi32>
  return %z : !dtc.tensor<12x5xi32>
}
func.func @document_positions(%d: !dtc.tensor<3x7xi32> {test.data = "documents"}) -> !dtc.tensor<3x7xi32> {
  %z = dtc.document_positions %d : (!dtc.tensor<3x7xi32>) -> !dtc.tensor<3x7xi32>
  return %z : !dtc.tensor<3x7xi32>
}
func.func @shift(%x: !dtc.tensor<2x12x5xf64>) -> !dtc.tensor<2x12x5xf64> {
  %z = dtc.shift %x dim 1 blocks 4 : (!dtc.tensor<2x12x5xf64>) -> !dtc.tensor<2x12x5xf64>
  return %z : !dtc.tensor<2x12x5xf64>
}
func.func @shift_inverse(%x: !dtc.tensor<6x5xi32> {test.data = "below 100"}) -> !dtc.tensor<6x5xi32> {
  %z = dtc.shift %x dim 0 blocks 6 inverse : (!dtc.tensor<6x5xi32>) -> !dtc.tensor<6x5xi32>
  return %z : !dtc.tensor<6x5xi32>
}
// Queries see the keys of their own block only.
func.func @attention_blocks(%q: !dtc.tensor<2x8x4x2xf64>, %k: !dtc.tensor<2x8x2x2xf64>, %v: !dtc.tensor<2x8x2x2xf64>,
                            %p: !dtc.tensor<8xi32> {test.data = "permutation"}) -> (!dtc.tensor<2x8x4x2xf64>, !dtc.tensor<2x8x4xf64>) {
  %o, %lse = dtc.attention %q, %k, %v at %p, %p {causal, scale = 7.0e-01, blocks = 4} : (!dtc.tensor<2x8x4x2xf64>, !dtc.tensor<2x8x2x2xf64>, !dtc.tensor<2x8x2x2xf64>, !dtc.tensor<8xi32>, !dtc.tensor<8xi32>) -> (!dtc.tensor<2x8x4x2xf64>, !dtc.tensor<2x8x4xf64>)
  return %o, %lse : !dtc.tensor<2x8x4x2xf64>, !dtc.tensor<2x8x4xf64>
}
func.func @attention_grad_blocks(%q: !dtc.tensor<2x8x4x2xf64>, %k: !dtc.tensor<2x8x2x2xf64>, %v: !dtc.tensor<2x8x2x2xf64>,
                                 %p: !dtc.tensor<8xi32> {test.data = "permutation"}, %do: !dtc.tensor<2x8x4x2xf64>) -> (!dtc.tensor<2x8x4x2xf64>, !dtc.tensor<2x8x2x2xf64>, !dtc.tensor<2x8x2x2xf64>) {
  %o, %lse = dtc.attention %q, %k, %v at %p, %p {causal, scale = 7.0e-01, blocks = 4} : (!dtc.tensor<2x8x4x2xf64>, !dtc.tensor<2x8x2x2xf64>, !dtc.tensor<2x8x2x2xf64>, !dtc.tensor<8xi32>, !dtc.tensor<8xi32>) -> (!dtc.tensor<2x8x4x2xf64>, !dtc.tensor<2x8x4xf64>)
  %dq, %dk, %dv = dtc.attention_grad %q, %k, %v at %p, %p of %o, %lse, %do {causal, scale = 7.0e-01, local, blocks = 4} : (!dtc.tensor<2x8x4x2xf64>, !dtc.tensor<2x8x2x2xf64>, !dtc.tensor<2x8x2x2xf64>, !dtc.tensor<8xi32>, !dtc.tensor<8xi32>, !dtc.tensor<2x8x4x2xf64>, !dtc.tensor<2x8x4xf64>, !dtc.tensor<2x8x4x2xf64>) -> (!dtc.tensor<2x8x4x2xf64>, !dtc.tensor<2x8x2x2xf64>, !dtc.tensor<2x8x2x2xf64>)
  return %dq, %dk, %dv : !dtc.tensor<2x8x4x2xf64>, !dtc.tensor<2x8x2x2xf64>, !dtc.tensor<2x8x2x2xf64>
}
func.func @merge_attention(%a: !dtc.tensor<3x5x2x4xf64>, %la: !dtc.tensor<3x5x2xf64>, %b: !dtc.tensor<3x5x2x4xf64>, %lb: !dtc.tensor<3x5x2xf64>) -> (!dtc.tensor<3x5x2x4xf64>, !dtc.tensor<3x5x2xf64>) {
  %z, %lse = dtc.merge_attention %a, %la, %b, %lb : (!dtc.tensor<3x5x2x4xf64>, !dtc.tensor<3x5x2xf64>, !dtc.tensor<3x5x2x4xf64>, !dtc.tensor<3x5x2xf64>) -> (!dtc.tensor<3x5x2x4xf64>, !dtc.tensor<3x5x2xf64>)
  return %z, %lse : !dtc.tensor<3x5x2x4xf64>, !dtc.tensor<3x5x2xf64>
}

//===----------------------------------------------------------------------===//
// Parts of the loss
//===----------------------------------------------------------------------===//

func.func @vocab_max(%logits: !dtc.tensor<3x5x7xf64>) -> !dtc.tensor<3x5xf64> {
  %z = dtc.vocab_max %logits : (!dtc.tensor<3x5x7xf64>) -> !dtc.tensor<3x5xf64>
  return %z : !dtc.tensor<3x5xf64>
}
func.func @vocab_sum_exp(%logits: !dtc.tensor<3x5x7xf64>, %shift: !dtc.tensor<3x5xf64>) -> !dtc.tensor<3x5xf64> {
  %z = dtc.vocab_sum_exp %logits, %shift : (!dtc.tensor<3x5x7xf64>, !dtc.tensor<3x5xf64>) -> !dtc.tensor<3x5xf64>
  return %z : !dtc.tensor<3x5xf64>
}
func.func @vocab_pick(%logits: !dtc.tensor<3x5x7xf64>, %labels: !dtc.tensor<3x5xi32> {test.data = "labels 7"}) -> !dtc.tensor<3x5xf64> {
  %z = dtc.vocab_pick %logits, %labels {label_smoothing = 2.0e-01} : (!dtc.tensor<3x5x7xf64>, !dtc.tensor<3x5xi32>) -> !dtc.tensor<3x5xf64>
  return %z : !dtc.tensor<3x5xf64>
}
func.func @token_loss(%shift: !dtc.tensor<3x5xf64>, %sum: !dtc.tensor<3x5xf64> {test.data = "positive"}, %picked: !dtc.tensor<3x5xf64>,
                      %labels: !dtc.tensor<3x5xi32> {test.data = "labels 7"}) -> (!dtc.tensor<f64>, !dtc.tensor<3x5xf64>) {
  %loss, %lse = dtc.token_loss %shift, %sum, %picked, %labels : (!dtc.tensor<3x5xf64>, !dtc.tensor<3x5xf64>, !dtc.tensor<3x5xf64>, !dtc.tensor<3x5xi32>) -> (!dtc.tensor<f64>, !dtc.tensor<3x5xf64>)
  return %loss, %lse : !dtc.tensor<f64>, !dtc.tensor<3x5xf64>
}

//===----------------------------------------------------------------------===//
// Optimizer, micro-batches
//===----------------------------------------------------------------------===//

func.func @sum_stages(%x: !dtc.tensor<3x7xf64>, %y: !dtc.tensor<3x7xf64>, %z: !dtc.tensor<3x7xf64>) -> !dtc.tensor<3x7xf64> {
  %s = dtc.sum_stages %x, %y, %z from [0, 2, 1] to [0, 1] : (!dtc.tensor<3x7xf64>, !dtc.tensor<3x7xf64>, !dtc.tensor<3x7xf64>) -> !dtc.tensor<3x7xf64>
  return %s : !dtc.tensor<3x7xf64>
}
func.func @sum_squares(%x: !dtc.tensor<3x7xf64>) -> !dtc.tensor<f64> {
  %z = dtc.sum_squares %x : (!dtc.tensor<3x7xf64>) -> !dtc.tensor<f64>
  return %z : !dtc.tensor<f64>
}
func.func @clip(%sum: !dtc.tensor<f64> {test.data = "value 9"}, %loss: !dtc.tensor<f64>, %labels: !dtc.tensor<i32> {test.data = "value 7"},
                %scalars: !dtc.tensor<8xf64> {test.data = "optimizer"}) -> (!dtc.tensor<f64>, !dtc.tensor<f64>, !dtc.tensor<i32>) {
  %norm, %c, %skip = dtc.clip %sum, %loss, %labels, %scalars : (!dtc.tensor<f64>, !dtc.tensor<f64>, !dtc.tensor<i32>, !dtc.tensor<8xf64>) -> (!dtc.tensor<f64>, !dtc.tensor<f64>, !dtc.tensor<i32>)
  return %norm, %c, %skip : !dtc.tensor<f64>, !dtc.tensor<f64>, !dtc.tensor<i32>
}
func.func @adamw(%p: !dtc.tensor<3x7xf64>, %g: !dtc.tensor<3x7xf64>, %m: !dtc.tensor<3x7xf64>, %v: !dtc.tensor<3x7xf64> {test.data = "positive"},
                 %c: !dtc.tensor<f64> {test.data = "positive"}, %skip: !dtc.tensor<i32> {test.data = "value 0"},
                 %scalars: !dtc.tensor<8xf64> {test.data = "optimizer"}) -> (!dtc.tensor<3x7xf64>, !dtc.tensor<3x7xf64>, !dtc.tensor<3x7xf64>) {
  %np, %nm, %nv = dtc.adamw %p, %g, %m, %v with %c, %skip, %scalars {decay} : (!dtc.tensor<3x7xf64>, !dtc.tensor<3x7xf64>, !dtc.tensor<3x7xf64>, !dtc.tensor<3x7xf64>, !dtc.tensor<f64>, !dtc.tensor<i32>, !dtc.tensor<8xf64>) -> (!dtc.tensor<3x7xf64>, !dtc.tensor<3x7xf64>, !dtc.tensor<3x7xf64>)
  return %np, %nm, %nv : !dtc.tensor<3x7xf64>, !dtc.tensor<3x7xf64>, !dtc.tensor<3x7xf64>
}
func.func @adamw_skip(%p: !dtc.tensor<7xf64>, %g: !dtc.tensor<7xf64>, %m: !dtc.tensor<7xf64>, %v: !dtc.tensor<7xf64> {test.data = "positive"},
                      %c: !dtc.tensor<f64> {test.data = "positive"}, %skip: !dtc.tensor<i32> {test.data = "value 1"},
                      %scalars: !dtc.tensor<8xf64> {test.data = "optimizer"}) -> (!dtc.tensor<7xf64>, !dtc.tensor<7xf64>, !dtc.tensor<7xf64>) {
  %np, %nm, %nv = dtc.adamw %p, %g, %m, %v with %c, %skip, %scalars : (!dtc.tensor<7xf64>, !dtc.tensor<7xf64>, !dtc.tensor<7xf64>, !dtc.tensor<7xf64>, !dtc.tensor<f64>, !dtc.tensor<i32>, !dtc.tensor<8xf64>) -> (!dtc.tensor<7xf64>, !dtc.tensor<7xf64>, !dtc.tensor<7xf64>)
  return %np, %nm, %nv : !dtc.tensor<7xf64>, !dtc.tensor<7xf64>, !dtc.tensor<7xf64>
}
func.func @micro_batch(%x: !dtc.tensor<12x5xi32> {test.data = "below 100"}, %m: !dtc.tensor<i32> {test.data = "value 2"}) -> !dtc.tensor<4x5xi32> {
  %z = dtc.micro_batch %x[%m] parts 2 count 3 : (!dtc.tensor<12x5xi32>, !dtc.tensor<i32>) -> !dtc.tensor<4x5xi32>
  return %z : !dtc.tensor<4x5xi32>
}
func.func @micro_batch_whole(%x: !dtc.tensor<6x5xf64>, %m: !dtc.tensor<i32> {test.data = "value 1"}) -> !dtc.tensor<3x5xf64> {
  %z = dtc.micro_batch %x[%m] parts 1 count 2 : (!dtc.tensor<6x5xf64>, !dtc.tensor<i32>) -> !dtc.tensor<3x5xf64>
  return %z : !dtc.tensor<3x5xf64>
}
