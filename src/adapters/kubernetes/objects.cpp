#include "adapters/kubernetes/objects.h"

#include "adapters/kubernetes/codec_define.h"
#include "adapters/kubernetes/workloads.h"

KUBERNETES_JSON(hostler::kubernetes::Node)
KUBERNETES_JSON(hostler::kubernetes::Pod)
KUBERNETES_JSON(hostler::kubernetes::Namespace)
KUBERNETES_JSON(hostler::kubernetes::Secret)
KUBERNETES_JSON(hostler::kubernetes::ConfigMap)
KUBERNETES_JSON(hostler::kubernetes::ServiceAccount)
KUBERNETES_JSON(hostler::kubernetes::Role)
KUBERNETES_JSON(hostler::kubernetes::ClusterRole)
KUBERNETES_JSON(hostler::kubernetes::RoleBinding)
KUBERNETES_JSON(hostler::kubernetes::ClusterRoleBinding)
KUBERNETES_JSON(hostler::kubernetes::Deployment)
KUBERNETES_JSON(hostler::kubernetes::DaemonSet)
KUBERNETES_JSON(hostler::kubernetes::PodDisruptionBudget)
KUBERNETES_JSON(hostler::kubernetes::Event)
KUBERNETES_JSON(hostler::kubernetes::Lease)
KUBERNETES_JSON(hostler::kubernetes::Status)
