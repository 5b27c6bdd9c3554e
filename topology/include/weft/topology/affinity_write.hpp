// SPDX-License-Identifier: BSD-3-Clause
//
// A node's inside in the words of those who act on it: Slurm's gres.conf and srun options, shell environments for NCCL
// and UCX, Open MPI's rankfile. Local rank g runs on GPU g everywhere.
#pragma once

#include <string>
#include <vector>

#include "weft/topology/affinity.hpp"

namespace weft::topology {

/// Hardware threads for the rank of each GPU: its local cores, GPUs with the same cores share them out in whole cores,
/// by order; where there are fewer cores than GPUs some cores serve several. Empty where the GPU's CPUs are unknown.
/// Where the file has no cores but only CPUs, they are assumed as Linux on x86 counts them (the second threads of all
/// cores after all first ones) and `cores_assumed` is set.
struct CpuShares {
  std::vector<CpuSet> cpus;                       ///< of each GPU
  std::vector<std::vector<std::uint32_t>> cores;  ///< of each GPU: cores, as Slurm counts them; all local ones
  std::vector<std::vector<std::uint32_t>> own;    ///< of each GPU: the cores of its share
  bool cores_assumed = false;
};
[[nodiscard]] CpuShares cpu_shares(const NodeAffinity& node);

/// For gres.conf: AutoDetect off, a line a GPU with File, Cores (Slurm's own count: cores in the order of their
/// sockets) and Links (width of NVLink or xGMI to each GPU; -1 at its own place; 0 where there is none), where the
/// files tell them. `nodes`: a hostlist for NodeName; empty = none, for a gres.conf that each node has of its own.
[[nodiscard]] std::string write_gres_conf(const NodeAffinity& node, const std::string& nodes);

/// A shell `case` on the local rank (WEFT_LOCAL_RANK, else SLURM_LOCALID, Open MPI's, PMIx's or MPICH's) that exports
/// CUDA_VISIBLE_DEVICES (ROCR_VISIBLE_DEVICES, ZE_AFFINITY_MASK), NCCL_IB_HCA, UCX_NET_DEVICES, WEFT_CPU_MASK and
/// WEFT_CPU_LIST.
[[nodiscard]] std::string write_affinity_env(const NodeAffinity& node);

/// Open MPI's rankfile: rank g of each host on the cores of GPU g. `hosts` empty: the one host "localhost". Slots are
/// socket:cores where the sockets are known.
[[nodiscard]] std::string write_affinity_rankfile(const NodeAffinity& node, const std::vector<std::string>& hosts);

/// "--ntasks-per-node=8 --gpus-per-node=8 --cpu-bind=mask_cpu:0x…,… --gpu-bind=map_gpu:0,1,…" and a line end.
[[nodiscard]] std::string write_srun_options(const NodeAffinity& node);

}  // namespace weft::topology
