// RUN: dtc-opt %s -split-input-file -verify-diagnostics

// What a list of actions may not do.

func.func @f(%g: memref<128xi8>) attributes {rt.step} {
  // expected-error@+1 {{action 0 (run 1) names none of the 1 tasks}}
  rt.pipeline groups(%g : memref<128xi8>) copies [2] channels [] in [] actions [run 1 micro_batch 0 slots [0]] {
    rt.task "forward" stage 0 groups [0] {
    ^bb0(%m: index):
    }
  }
  return
}

// -----

func.func @f(%g: memref<128xi8>) attributes {rt.step} {
  // expected-error@+1 {{action 0 (run 0) uses copy 2 of group 0, which has 2}}
  rt.pipeline groups(%g : memref<128xi8>) copies [2] channels [] in [] actions [run 0 micro_batch 0 slots [2]] {
    rt.task "forward" stage 0 groups [0] {
    ^bb0(%m: index):
    }
  }
  return
}

// -----

func.func @f(%g: memref<128xi8>) attributes {rt.step} {
  // expected-error@+1 {{action 0 (run 0) has 0 slots for 1 groups}}
  rt.pipeline groups(%g : memref<128xi8>) copies [2] channels [] in [] actions [run 0 micro_batch 0 slots []] {
    rt.task "forward" stage 0 groups [0] {
    ^bb0(%m: index):
    }
  }
  return
}

// -----

func.func @f(%g: memref<128xi8>) attributes {rt.step} {
  // expected-error@+1 {{must be memref<N x i8> with copies of a multiple of 64 bytes}}
  rt.pipeline groups(%g : memref<128xi8>) copies [3] channels [] in [] actions [] {
  }
  return
}

// -----

func.func @f(%g: memref<128xi8>) attributes {rt.step} {
  // expected-error@+1 {{does not fit into copies of 64 bytes}}
  rt.pipeline groups(%g : memref<128xi8>) copies [2] channels [#rt.channel<"c", number = 0, peer = 1, bytes = 65>] in [0] actions [] {
  }
  return
}

// -----

func.func @f(%g: memref<128xi8>) attributes {rt.step} {
  // expected-error@+1 {{action 1 (post 0) uses copy 0, which is under way}}
  rt.pipeline groups(%g : memref<128xi8>) copies [2] channels [#rt.channel<"c", number = 0, peer = 1, bytes = 64>] in [0]
      actions [post 0 slot 0, post 0 slot 0] {
  }
  return
}

// -----

func.func @f(%g: memref<128xi8>) attributes {rt.step} {
  // expected-error@+1 {{action 0 (receive 0) waits for what is not under way}}
  rt.pipeline groups(%g : memref<128xi8>) copies [2] channels [#rt.channel<"c", number = 0, peer = 1, bytes = 64>] in [0]
      actions [receive 0] {
  }
  return
}

// -----

func.func @f(%g: memref<128xi8>) attributes {rt.step} {
  // expected-error@+1 {{action 1 (send 0) is of a channel that goes the other way}}
  rt.pipeline groups(%g : memref<128xi8>) copies [2] channels [#rt.channel<"c", number = 0, peer = 1, bytes = 64>] in [0]
      actions [post 0 slot 0, send 0 slot 1] {
  }
  return
}

// -----

func.func @f(%g: memref<128xi8>) attributes {rt.step} {
  // expected-error@+1 {{channel 0 has 1 messages that nobody waits for}}
  rt.pipeline groups(%g : memref<128xi8>) copies [2] channels [#rt.channel<"c", number = 0, peer = 1, bytes = 64>] in [0]
      actions [send 0 slot 0] {
  }
  return
}

// -----

func.func @f(%g: memref<128xi8>) attributes {rt.step} {
  rt.pipeline groups(%g : memref<128xi8>) copies [2] channels [] in [] actions [] {
    // expected-error@+1 {{names group 1, which does not exist}}
    rt.task "forward" stage 0 groups [1] {
    ^bb0(%m: index):
    }
  }
  return
}

// -----

// Also where a run uses the task.
func.func @f(%g: memref<128xi8>) attributes {rt.step} {
  rt.pipeline groups(%g : memref<128xi8>) copies [2] channels [] in [] actions [run 0 micro_batch 0 slots [0]] {
    // expected-error@+1 {{names group 5, which does not exist}}
    rt.task "forward" stage 0 groups [5] {
    ^bb0(%m: index):
    }
  }
  return
}

// -----

func.func @f(%g: memref<128xi8>) attributes {rt.step} {
  // expected-error@+1 {{has a group of 576460752303423488 copies in}}
  rt.pipeline groups(%g : memref<128xi8>) copies [576460752303423488] channels [] in [] actions [] {
  }
  return
}

// -----

func.func @f(%g: memref<128xi8>) attributes {rt.step} {
  rt.pipeline groups(%g : memref<128xi8>) copies [2] channels [] in [] actions [] {
    rt.task "forward" stage 0 groups [0] {
    ^bb0(%m: index):
      // expected-error@+1 {{lies at 9223372036854775744 with 64 bytes, in copies of 64}}
      %x = rt.slot 0 at 9223372036854775744 : memref<16xf32>
    }
  }
  return
}

// -----

func.func @f(%g: memref<128xi8>) attributes {rt.step} {
  rt.pipeline groups(%g : memref<128xi8>) copies [2] channels [] in [] actions [] {
    rt.task "forward" stage 0 groups [0] {
    ^bb0(%m: index):
      // expected-error@+1 {{lies at 64 with 4 bytes, in copies of 64}}
      %x = rt.slot 0 at 64 : memref<1xf32>
    }
  }
  return
}

// -----

func.func @f() attributes {rt.step} {
  // expected-error@+1 {{must stand in a task}}
  %x = rt.slot 0 at 0 : memref<1xf32>
  return
}

// -----

func.func @f(%g: memref<16xf32>) attributes {rt.step} {
  // expected-error@+1 {{has a buffer of 64 bytes, but a channel of 32}}
  rt.post <"c", number = 0, peer = 1, bytes = 32> into %g : memref<16xf32>
  return
}

// -----

func.func @f(%g: memref<288230376151711744xi8>) attributes {rt.step} {
  // expected-error@+1 {{must be variadic of memref of static shape and identity layout, of at most 2^50 numbers}}
  rt.pipeline groups(%g : memref<288230376151711744xi8>) copies [288230376151711744] channels [] in [] actions [] {
  }
  return
}
