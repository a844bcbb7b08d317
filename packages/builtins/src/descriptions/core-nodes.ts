/**
 * Descriptions of core/v1: Nodes, namespaces, quotas and limits.
 */
export const nodeTexts = `
AttachedVolume: A volume that is attached to a Node.
  devicePath: The path of the device on the Node.
  name: The name of the volume.
ComponentCondition: The health of a component.
  error: The error code of the check.
  message: The answer of the component.
  status: Whether the component is healthy: True, False or Unknown.
  type: The aspect. The only one is Healthy.
ComponentStatus: The health of components of the control plane. Deprecated; ask /livez and /readyz instead.
  conditions: What was observed of the component.
ConfigMapNodeConfigSource: A ConfigMap with the configuration of a kubelet. No longer supported.
  kubeletConfigKey: The key of the configuration in the ConfigMap.
  name: The name of the ConfigMap.
  namespace: The namespace of the ConfigMap.
  resourceVersion: The resource version of the ConfigMap. Not allowed in the spec of a Node.
  uid: The uid of the ConfigMap. Not allowed in the spec of a Node.
ContainerImage: An image on a Node.
  names: The names by which the image is known, with tag or digest.
  sizeBytes: How many bytes the image takes on the disk.
DaemonEndpoint: A port of a daemon on a Node.
  Port: The port number.
LimitRange: Default, smallest and largest amounts of resources for each object of a namespace.
  spec: The limits for each type of object.
LimitRangeItem: The limits for one type of object.
  default: The limits that containers get when they have none.
  defaultRequest: The requests that containers get when they have none. Without it the limit is used.
  max: The largest amounts.
  maxLimitRequestRatio: How many times its request a limit may be.
  min: The smallest amounts.
  type: What is limited: Container, Pod or PersistentVolumeClaim.
LimitRangeSpec: The limits of a namespace.
  limits: The limits, one entry for each type of object.
Namespace: A scope for names. Most kinds live in one, and permissions and quotas apply to one.
  spec: What must happen before the namespace may go.
  status: Whether the namespace is in use or being deleted.
NamespaceCondition < meta.v1.Condition: Why a namespace is not gone yet, such as NamespaceContentRemaining.
NamespaceSpec: What must happen before a namespace may go.
  finalizers: Names of work that must be done first. The built-in one, kubernetes, deletes all objects of the namespace.
NamespaceStatus: What is known about a namespace.
  conditions: The latest observations of the deletion.
  phase [Active|Terminating]: Active, or Terminating while its objects are deleted. Nothing can be created in it then.
Node: A machine that runs Pods.
  spec: How the Node is used: its taints and the addresses for its Pods.
  status: What the kubelet reports about the machine.
NodeAddress: An address of a Node.
  address: The address or host name.
  type: Hostname, InternalIP, ExternalIP, InternalDNS or ExternalDNS.
NodeCondition < meta.v1.Condition: One aspect of the state of a Node, such as Ready or MemoryPressure.
  lastHeartbeatTime: When the Node last reported this condition.
NodeConfigSource: Where a kubelet took its configuration from. No longer supported.
  configMap: A ConfigMap with the configuration.
NodeConfigStatus: Which configuration a kubelet used. No longer supported.
  active: The configuration in use.
  assigned: The configuration that the kubelet will try to use.
  error: Why the assigned configuration is not in use.
  lastKnownGood: The configuration that the kubelet falls back to.
NodeDaemonEndpoints: Ports of the daemons on a Node.
  kubeletEndpoint: The port of the kubelet.
NodeFeatures: What the container runtime of a Node supports.
  supplementalGroupsPolicy: Whether supplementalGroupsPolicy of Pods works.
NodeRuntimeHandler: A handler of the container runtime.
  features: What the handler supports.
  name: The name of the handler, as in RuntimeClass. Empty is the default handler.
NodeRuntimeHandlerFeatures: What a handler of the container runtime supports.
  recursiveReadOnlyMounts: Whether recursiveReadOnly of volume mounts works.
  userNamespaces: Whether Pods can have a user namespace of their own.
NodeSpec: How a Node is used.
  configSource: No longer supported and not used.
  externalID: Deprecated. The id of the machine at the cloud, on old kubelets.
  podCIDR: The range of addresses for Pods of the Node.
  podCIDRs: The ranges of addresses for Pods, at most one each of IPv4 and IPv6. The first is the same as podCIDR.
  providerID: The id of the machine at its cloud, as PROVIDER://ID.
  taints: Marks that keep away Pods which do not tolerate them.
  unschedulable: True keeps new Pods away, as kubectl cordon does. The default is false.
NodeStatus: What is known about a Node, mostly from its kubelet.
  addresses: Addresses of the Node.
  allocatable: What Pods may use in sum: the capacity without what the system keeps.
  capacity: What the machine has, by resource.
  conditions: The latest observations of the Node.
  config: No longer supported.
  daemonEndpoints: Ports of the daemons on the Node.
  declaredFeatures: Features of Kubernetes that the Node says it has.
  features: What the container runtime supports.
  images: Images on the Node.
  nodeInfo: Ids and versions of the machine and its software.
  phase [Pending|Running|Terminated]: Deprecated and never set.
  runtimeHandlers: The handlers of the container runtime.
  volumesAttached: Volumes that are attached to the Node.
  volumesInUse: Attached volumes that Pods on the Node use. They cannot be detached safely.
NodeSwapStatus: The swap memory of a Node.
  capacity: The size in bytes.
NodeSystemInfo: Ids and versions of a machine and its software.
  architecture: The architecture of the processor, such as amd64.
  bootID: An id that changes with each start of the machine.
  containerRuntimeVersion: The container runtime and its version, such as containerd://2.1.0.
  kernelVersion: The version of the kernel.
  kubeProxyVersion: Deprecated. The version of kube-proxy.
  kubeletVersion: The version of the kubelet.
  machineID: The id of the installation, from /etc/machine-id.
  operatingSystem: The operating system, such as linux.
  osImage: The name of the installed system, such as Debian GNU/Linux 13.
  swap: The swap memory of the machine.
  systemUUID: The id of the machine from its firmware. machineID is preferred.
ResourceQuota: Limits what all objects of a namespace may use together.
  spec: The limits, and which objects they count.
  status: The limits in force, and what is used.
ResourceQuotaSpec: The limits and the objects they count.
  hard: The most that may be used, by resource, such as pods, requests.cpu or count/deployments.apps.
  scopeSelector: Conditions on the objects that are counted, beside scopes. All must hold.
  scopes [BestEffort|CrossNamespacePodAffinity|NotBestEffort|NotTerminating|PriorityClass|Terminating|VolumeAttributesClass]: Properties that objects must have to be counted: Terminating, NotTerminating, BestEffort, NotBestEffort, PriorityClass, CrossNamespacePodAffinity or VolumeAttributesClass. Absent means that all are.
ResourceQuotaStatus: The limits and what is used.
  hard: The limits in force.
  used: What is used now.
ScopeSelector: Conditions on the objects that a quota counts.
  matchExpressions: The conditions. All must hold.
ScopedResourceSelectorRequirement: One condition on a property of objects.
  operator [DoesNotExist|Exists|In|NotIn]: How the values compare. Only PriorityClass and VolumeAttributesClass allow more than Exists.
  scopeName [BestEffort|CrossNamespacePodAffinity|NotBestEffort|NotTerminating|PriorityClass|Terminating|VolumeAttributesClass]: The property that objects must have.
  values: The values for In and NotIn, at least one. It must be empty for Exists and DoesNotExist.
Taint: A mark on a Node that keeps away Pods which do not tolerate it.
  effect [NoExecute|NoSchedule|PreferNoSchedule]: NoSchedule keeps new Pods away, PreferNoSchedule tries to, NoExecute also removes Pods that run.
  key: The key of the taint.
  timeAdded: When the taint was added.
  value: The value that tolerations compare with.
TopologySelectorLabelRequirement: A label of Nodes and its allowed values.
  key: The name of the label.
  values: The allowed values. One that matches is enough.
TopologySelectorTerm: Conditions on labels of Nodes. Without any it matches all.
  matchLabelExpressions: The conditions. All must hold.
`
