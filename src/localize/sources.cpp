#include <algorithm>

#include <fmt/core.h>

#include "driftaudit/localize.hpp"

namespace drift {
namespace {

struct SourceEntry {
  const char* function;
  bool in_blas;  ///< a library that the build brings does the sums
  std::vector<const char*> files;
  std::vector<const char*> symbols;
};

/// Paths that releases from 1.10 to 2.x have in common.
const std::vector<SourceEntry>& source_entries() {
  static const std::vector<SourceEntry> entries{
      {"softmax",
       false,
       {"aten/src/ATen/native/cpu/SoftMaxKernel.cpp", "aten/src/ATen/cpu/vec/functional_base.h"},
       {"softmax_lastdim_kernel", "vec_reduce_all"}},
      {"sum",
       false,
       {"aten/src/ATen/native/cpu/SumKernel.cpp", "aten/src/ATen/native/cpu/Reduce.h"},
       {"cascade_sum", "binary_kernel_reduce"}},
      {"mean",
       false,
       {"aten/src/ATen/native/ReduceOps.cpp", "aten/src/ATen/native/cpu/SumKernel.cpp"},
       {"mean", "cascade_sum"}},
      {"dot",
       true,
       {"aten/src/ATen/native/Blas.cpp", "aten/src/ATen/native/BlasKernel.cpp"},
       {"dot", "dot_impl"}},
      {"layer_norm",
       false,
       {"aten/src/ATen/native/cpu/layer_norm_kernel.cpp",
        "aten/src/ATen/native/cpu/moments_utils.h"},
       {"LayerNormKernelImplInternal", "RowwiseMoments"}},
      {"addmm",
       true,
       {"aten/src/ATen/native/LinearAlgebra.cpp", "aten/src/ATen/native/CPUBlas.cpp"},
       {"addmm_impl_cpu_", "gemm"}},
      {"linear",
       true,
       {"aten/src/ATen/native/Linear.cpp", "aten/src/ATen/native/LinearAlgebra.cpp",
        "aten/src/ATen/native/CPUBlas.cpp"},
       {"linear", "addmm_impl_cpu_", "gemm"}},
      {"matmul",
       true,
       {"aten/src/ATen/native/LinearAlgebra.cpp", "aten/src/ATen/native/mkl/LinearAlgebra.cpp"},
       {"matmul", "baddbmm"}},
      {"scaled_dot_product_attention",
       true,
       {"aten/src/ATen/native/transformers/attention.cpp",
        "aten/src/ATen/native/cpu/FlashAttentionKernel.cpp"},
       {"scaled_dot_product_attention", "cpu_flash_attention"}},
      {"tanh",
       false,
       {"aten/src/ATen/native/cpu/UnaryOpsKernel.cpp",
        "aten/src/ATen/cpu/vec/vec256/vec256_float.h",
        "aten/src/ATen/cpu/vec/vec512/vec512_float.h"},
       {"tanh"}},
      {"pow", false, {"aten/src/ATen/native/cpu/PowKernel.cpp"}, {"pow_tensor_scalar"}},
      {"add", false, {"aten/src/ATen/native/cpu/BinaryOpsKernel.cpp"}, {"add"}},
      {"mul", false, {"aten/src/ATen/native/cpu/BinaryOpsKernel.cpp"}, {"mul_kernel"}},
      {"div", false, {"aten/src/ATen/native/cpu/BinaryOpsKernel.cpp"}, {"div_true_kernel"}},
      {"where", false, {"aten/src/ATen/native/cpu/TensorCompareKernel.cpp"}, {"where_kernel_impl"}},
      {"cat", false, {"aten/src/ATen/native/cpu/CatKernel.cpp"}, {"cat_serial_kernel"}},
      {"contiguous", false, {"aten/src/ATen/native/cpu/CopyKernel.cpp"}, {"copy_kernel"}},
      {"embedding", false, {"aten/src/ATen/native/Embedding.cpp"}, {"embedding"}},
  };
  return entries;
}

}  // namespace

SourceHint source_hint(const std::string& function, const std::string& blas) {
  SourceHint hint;
  hint.function = function;
  const std::vector<SourceEntry>& entries = source_entries();
  const auto at = std::find_if(entries.begin(), entries.end(), [&](const SourceEntry& entry) {
    return entry.function == function;
  });
  if (at == entries.end()) {
    return hint;
  }
  hint.files.assign(at->files.begin(), at->files.end());
  hint.symbols.assign(at->symbols.begin(), at->symbols.end());
  if (at->in_blas) {
    hint.note =
        function == "scaled_dot_product_attention"
            ? fmt::format("its products are a BLAS's ({}), or oneDNN's; its softmax is its own",
                          blas)
            : fmt::format("its sums are a BLAS's ({}), or oneDNN's", blas);
  }
  return hint;
}

std::string compare_address(const std::string& commit_a, const std::string& commit_b) {
  if (commit_a.empty() || commit_b.empty() || commit_a == commit_b) {
    return "";
  }
  return fmt::format("https://github.com/pytorch/pytorch/compare/{}...{}", commit_a, commit_b);
}

}  // namespace drift
