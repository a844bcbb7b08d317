/**
 * Descriptions of core/v1: Pods, their scheduling, security and status, and ReplicationControllers.
 */
export const podTexts = `
Affinity: Where a Pod prefers or needs to run, by properties of Nodes and by Pods that run there.
  nodeAffinity: Rules about labels of Nodes.
  podAffinity: Rules to run near other Pods, such as in the same zone.
  podAntiAffinity: Rules to run away from other Pods, such as on another Node.
AppArmorProfile: The AppArmor profile of a Pod or a container.
  localhostProfile: The name of a profile that is loaded on the Node. Only for the type Localhost, which needs it.
  type [Localhost|RuntimeDefault|Unconfined]: Localhost uses a profile of the Node, RuntimeDefault that of the container runtime, Unconfined none.
Binding: Assigns a Pod to a Node. Schedulers create it through the subresource binding of a Pod.
  target: The Node to run on.
ContainerExtendedResourceRequest: Which device request serves an extended resource of a container.
  containerName: The container that asked for the resource.
  requestName: The request in the generated ResourceClaim.
  resourceName: The name of the extended resource.
HostAlias: A line for the hosts file of a Pod.
  hostnames: The names for the address.
  ip: The IP address.
HostIP: An IP address of the Node.
  ip: The IP address.
NodeAffinity: Rules about the Nodes that a Pod may run on.
  preferredDuringSchedulingIgnoredDuringExecution: Preferences. The scheduler adds up the weights of those that a Node meets and takes the Node with the highest sum.
  requiredDuringSchedulingIgnoredDuringExecution: Conditions that a Node must meet when the Pod is scheduled. A later change of the Node does not remove the Pod.
NodeAllocatableResourceClaimStatus: CPU, memory or similar resources that a Pod got through a ResourceClaim.
  containers: The containers that use the claim.
  resourceClaimName: The ResourceClaim of the Pod that these resources come from.
  resources: The allocated amounts by resource.
NodeSelector: Selects Nodes. One term that matches is enough.
  nodeSelectorTerms: The terms; at least one.
NodeSelectorRequirement: One condition on a label or field of a Node.
  key: The label or field.
  operator [DoesNotExist|Exists|Gt|In|Lt|NotIn]: How the values compare. Gt and Lt compare whole numbers.
  values: The values for In and NotIn; exactly one number for Gt and Lt; none for Exists and DoesNotExist.
NodeSelectorTerm: Conditions that must all hold. A term without any matches no Node.
  matchExpressions: Conditions on labels of the Node.
  matchFields: Conditions on fields of the Node. The only one is metadata.name.
Pod: A group of containers that run together on one Node and share its network address and volumes.
  spec: The containers to run, and where.
  status: What the kubelet reports about the Pod. It may lag behind.
PodAffinity: Rules to run near other Pods.
  preferredDuringSchedulingIgnoredDuringExecution: Preferences. The scheduler adds up the weights of those that a Node meets and takes the Node with the highest sum.
  requiredDuringSchedulingIgnoredDuringExecution: Terms that must all hold when the Pod is scheduled. Later changes of other Pods do not remove it.
PodAffinityTerm: Other Pods, and how near they are: all Nodes with the same value of a label count as one place.
  labelSelector: The other Pods by their labels. Absent matches no Pod.
  matchLabelKeys: Labels whose values are taken from the incoming Pod and added to labelSelector as equal.
  mismatchLabelKeys: Labels whose values are taken from the incoming Pod and added to labelSelector as different.
  namespaceSelector: The namespaces of the other Pods by their labels, in addition to namespaces. An empty selector means all namespaces.
  namespaces: The namespaces of the other Pods by name. Without it and without namespaceSelector, that of this Pod.
  topologyKey: The label of Nodes that defines a place, such as kubernetes.io/hostname or topology.kubernetes.io/zone. It cannot be empty.
PodAntiAffinity < PodAffinity: Rules to run away from other Pods.
PodCondition < meta.v1.Condition: One aspect of the state of a Pod, such as PodScheduled, Initialized, ContainersReady or Ready.
  lastProbeTime: When this condition was last checked.
PodDNSConfig: DNS settings of a Pod, merged with those of its dnsPolicy.
  nameservers: Addresses of name servers, put before those of the policy. Duplicates are removed.
  options: Options of the resolver, merged with those of the policy; these win.
  searches: Search domains for short names, put before those of the policy. Duplicates are removed.
PodDNSConfigOption: An option of the resolver, such as ndots.
  name: The name of the option.
  value: The value, for options that have one.
PodExtendedResourceClaimStatus: The ResourceClaim that was generated for extended resources that devices serve.
  requestMappings: Which request of the claim serves which resource of which container.
  resourceClaimName: The name of the generated ResourceClaim, in the namespace of the Pod.
PodIP: An IP address of a Pod.
  ip: The IP address.
PodOS: The operating system that a Pod is made for.
  name: linux or windows. Some fields of the security context are refused for the other system.
PodReadinessGate: A condition that must be True before the Pod counts as ready.
  conditionType: The type of the condition. A program outside the kubelet sets it in the status of the Pod.
PodResourceClaim: A claim for devices that containers of the Pod can refer to. Exactly one of the two claim fields is set.
  name: The name by which containers refer to the claim, unique in the Pod.
  resourceClaimName: An existing ResourceClaim in the namespace of the Pod.
  resourceClaimTemplateName: A ResourceClaimTemplate. A claim is created from it for this Pod and deleted with it.
PodResourceClaimStatus: The ResourceClaim that was generated for a claim of a Pod.
  name: The name of the claim in spec.resourceClaims.
  resourceClaimName: The generated ResourceClaim. Absent when none was needed.
PodSchedulingGate: A reason not to schedule a Pod yet.
  name: The name of the gate, unique in the Pod.
PodSchedulingGroup: The group that a Pod is scheduled with. Exactly one field must be set.
  podGroupName: The PodGroup that the Pod belongs to.
PodSecurityContext: Security settings of a Pod. Those of a container take precedence where both exist.
  appArmorProfile: The AppArmor profile of all containers. Not for windows.
  fsGroup: A group that owns volumes which support it, and that every process is a member of. New files in them belong to it. Not for windows.
  fsGroupChangePolicy [Always|OnRootMismatch]: When ownership of a volume is changed for fsGroup: Always at each mount, OnRootMismatch only when its root folder differs. The default is Always.
  runAsGroup: The group id of the processes. Absent means that of the image or runtime. Not for windows.
  runAsNonRoot: When true, the kubelet does not start a container that would run as user 0.
  runAsUser: The user id of the processes. Absent means that of the image. Not for windows.
  seLinuxChangePolicy: How the SELinux label gets onto volumes: Recursive relabels each file, MountOption mounts with the label. Not for windows.
  seLinuxOptions: The SELinux label of all containers. Absent means a random one of the runtime. Not for windows.
  seccompProfile: The seccomp profile of all containers. Not for windows.
  supplementalGroups: Further groups of the processes, beside the main one, fsGroup and those of the image. Not for windows.
  supplementalGroupsPolicy [Merge|Strict]: Merge adds the groups that the image defines for the user, Strict does not. The default is Merge. Not for windows.
  sysctls: Kernel parameters for the Pod. A Node that does not allow one refuses the Pod. Not for windows.
  windowsOptions: Settings of Windows for all containers. Not for linux.
PodSpec: Which containers a Pod runs, where, and under which conditions. Most of it cannot be changed.
  activeDeadlineSeconds: Seconds after startTime when the Pod is failed and its containers are ended. Absent means no limit.
  affinity: Rules about the Node, by its labels and by other Pods.
  automountServiceAccountToken: Whether a token of the service account is mounted into the containers. The default is that of the service account, else true.
  containers: The containers of the Pod; at least one. They cannot be added or removed later.
  dnsConfig: DNS settings in addition to dnsPolicy.
  dnsPolicy [ClusterFirst|ClusterFirstWithHostNet|Default|None]: Where names are resolved: ClusterFirst in the cluster, ClusterFirstWithHostNet the same for Pods with hostNetwork, Default as on the Node, None only by dnsConfig. The default is ClusterFirst.
  enableServiceLinks: Whether addresses of Services become environment variables. The default is true.
  ephemeralContainers: Containers for debugging that were added to the running Pod, through the subresource ephemeralcontainers only.
  hostAliases: Lines for the hosts file of the containers.
  hostIPC: Uses the IPC namespace of the Node. The default is false.
  hostNetwork: Uses the network of the Node. Ports of containers must then be free on the Node. The default is false.
  hostPID: Uses the process namespace of the Node. It excludes shareProcessNamespace. The default is false.
  hostUsers: False gives the Pod a user namespace of its own, so that root inside is not root on the Node. The default is true.
  hostname: The host name that the Pod has. By default it is metadata.name.
  hostnameOverride: The host name that the Pod sees, in place of hostname and subdomain, without effect on DNS. It excludes hostNetwork and setHostnameAsFQDN.
  imagePullSecrets: Secrets of this namespace with credentials for registries of images.
  initContainers: Containers that run one after another before the others start. Each must succeed; one with restart policy Always is a sidecar that keeps running.
  nodeName: The Node that runs the Pod. Usually the scheduler sets it; a Pod that is created with it skips the scheduler.
  nodeSelector: Labels that the Node must have.
  os: The operating system of the containers.
  overhead: What the Pod needs beside its containers. It comes from the runtime class; do not set it.
  preemptionPolicy [Never|PreemptLowerPriority]: Whether the Pod may push out Pods of lower priority. The default is PreemptLowerPriority.
  priority: The priority, from priorityClassName; higher goes first. Admission sets it; do not set another value.
  priorityClassName: The PriorityClass of the Pod. The highest are system-node-critical and, below it, system-cluster-critical. The default is the global default class, else priority 0.
  readinessGates: Further conditions that must be True before the Pod is ready.
  resourceClaims: Claims for devices that must be allocated before the Pod may start. It cannot be changed.
  resources: CPU, memory and huge pages of the whole Pod, which its containers share.
  restartPolicy [Always|Never|OnFailure]: When the kubelet restarts containers that ended: Always, OnFailure only after an error, or Never. The default is Always.
  runtimeClassName: The RuntimeClass that runs the Pod. It must exist. The default is the standard handler.
  schedulerName: The scheduler that places the Pod. The default is default-scheduler.
  schedulingGates: While there is one, the Pod is not scheduled. They can be set at creation and then only removed.
  schedulingGroup: The group of Pods that is scheduled together with this one. It cannot be changed.
  securityContext: Security settings for all containers.
  serviceAccount: Deprecated, use serviceAccountName.
  serviceAccountName: The ServiceAccount that the Pod runs as. The default is default.
  setHostnameAsFQDN: Sets the full DNS name of the Pod as its host name. The default is false.
  shareProcessNamespace: Lets containers see the processes of each other. It excludes hostPID. The default is false.
  subdomain: With it the full name of the Pod is HOSTNAME.SUBDOMAIN.NAMESPACE.svc.CLUSTERDOMAIN.
  terminationGracePeriodSeconds: Seconds between the signal to end and the kill, with the preStop hook included. 0 kills at once. The default is 30.
  tolerations: The taints of Nodes that the Pod accepts.
  topologySpreadConstraints: How Pods of one kind are spread over zones, Nodes and other places. All must hold.
  volumes: The volumes that containers can mount.
PodStatus: What is known about a Pod, mostly from the kubelet of its Node.
  allocatedResources: What the Node has set aside for the Pod.
  conditions: The latest observations of the Pod.
  containerStatuses: The state of each container.
  ephemeralContainerStatuses: The state of each container for debugging.
  extendedResourceClaimStatus: The ResourceClaim that was generated for extended resources.
  hostIP: The IP address of the Node. Absent before the Pod is started.
  hostIPs: The IP addresses of the Node. The first is the same as hostIP.
  initContainerStatuses: The state of each init container.
  message: Details for people about why the Pod is in this state.
  nodeAllocatableResourceClaimStatuses: CPU, memory and similar resources that the Pod got through ResourceClaims.
  nominatedNodeName: The Node where room is being made for the Pod by pushing out others. It may still run elsewhere.
  observedGeneration: The generation of the Pod that this status is about.
  phase [Failed|Pending|Running|Succeeded|Unknown]: A summary: Pending until all containers have started once, Running, Succeeded or Failed when all have ended, Unknown when the Node does not answer.
  podIP: The IP address of the Pod. Empty until it has one.
  podIPs: The IP addresses of the Pod, at most one each of IPv4 and IPv6. The first is the same as podIP.
  qosClass [BestEffort|Burstable|Guaranteed]: How the Pod is treated when resources run short, from its requests and limits. BestEffort Pods are removed first.
  reason: One word for programs about why the Pod is in this state, such as Evicted.
  resize: Deprecated, see the conditions PodResizePending and PodResizeInProgress.
  resourceClaimStatuses: The ResourceClaims that were generated from templates.
  resources: The requests and limits of the whole Pod that are in force.
  startTime: When the kubelet accepted the Pod, before it pulled images.
PodTemplate: A template of Pods as an object of its own.
  template: The Pods that are created from it.
PodTemplateSpec: The Pod that a controller creates.
  metadata: Labels and annotations of the Pods.
  spec: The containers and settings of the Pods.
PreferredSchedulingTerm: A preference for some Nodes.
  preference: The Nodes that are preferred.
  weight: How much it counts, from 1 to 100.
ReplicationController: Keeps a number of equal Pods running. The older form of ReplicaSet; prefer Deployments.
  spec: The Pods to run, and how many.
ReplicationControllerCondition < meta.v1.Condition: One aspect of the state of a ReplicationController, such as ReplicaFailure.
ReplicationControllerSpec: Which Pods a ReplicationController runs and how many.
  minReadySeconds: Seconds that a new Pod must be ready without a crash to count as available. The default is 0.
  replicas: How many Pods to run. The default is 1.
  selector: The labels of the Pods that belong to it. The default is the labels of the template.
  template: The Pods to create when there are too few. The restart policy must be Always.
ReplicationControllerStatus: What a ReplicationController has reached.
  availableReplicas: Pods that have been ready for at least minReadySeconds.
  conditions: The latest observations of the ReplicationController.
  fullyLabeledReplicas: Pods that have all labels of the template.
  observedGeneration: The generation of the ReplicationController that this status is about.
  readyReplicas: Pods that are ready.
  replicas: Pods that exist.
SELinuxOptions: An SELinux label.
  level: The level part of the label.
  role: The role part of the label.
  type: The type part of the label.
  user: The user part of the label.
SeccompProfile: The seccomp profile of a Pod or a container, which limits its system calls.
  localhostProfile: The file of the profile on the Node, below the seccomp folder of the kubelet. Only for the type Localhost, which needs it.
  type [Localhost|RuntimeDefault|Unconfined]: Localhost uses a file of the Node, RuntimeDefault the profile of the container runtime, Unconfined none.
Sysctl: A kernel parameter.
  name: The name of the parameter, such as net.core.somaxconn.
  value: The value to set.
Toleration: A taint that a Pod accepts. It matches by key, value and effect.
  effect [NoExecute|NoSchedule|PreferNoSchedule]: The effect that is accepted. Empty accepts all effects.
  key: The key of the taint. Empty, with the operator Exists, accepts all taints.
  operator [Equal|Exists|Gt|Lt]: Equal compares the value, Exists ignores it, Gt and Lt compare whole numbers and need the feature TaintTolerationComparisonOperators. The default is Equal.
  tolerationSeconds: How long the Pod stays on a Node with a matching NoExecute taint. Absent means for as long as it runs, 0 or less means not at all.
  value: The value of the taint; empty for Exists.
TopologySpreadConstraint: How evenly Pods are spread over places such as zones or Nodes.
  labelSelector: The Pods that are counted.
  matchLabelKeys: Labels whose values are taken from the incoming Pod and added to labelSelector. It needs labelSelector, without the same keys.
  maxSkew: By how many Pods a place may exceed the place with the fewest. It must be above 0.
  minDomains: How many places there must be. While there are fewer, the smallest count is taken as 0. Only with DoNotSchedule; the default is 1.
  nodeAffinityPolicy [Honor|Ignore]: Whether only Nodes that the Pod's node selector and affinity allow are counted. The default is Honor.
  nodeTaintsPolicy [Honor|Ignore]: Whether Nodes with taints that the Pod does not tolerate are left out. The default is Ignore.
  topologyKey: The label of Nodes that defines a place: Nodes with the same value are one.
  whenUnsatisfiable [DoNotSchedule|ScheduleAnyway]: DoNotSchedule keeps the Pod waiting, ScheduleAnyway only prefers places that even out the skew.
WeightedPodAffinityTerm: A preference about other Pods.
  podAffinityTerm: The other Pods and the place that is shared with them.
  weight: How much it counts, from 1 to 100.
WindowsSecurityContextOptions: Security settings of Windows.
  gmsaCredentialSpec: The contents of the GMSA credential spec that gmsaCredentialSpecName names. A webhook fills it in.
  gmsaCredentialSpecName: The name of the GMSA credential spec.
  hostProcess: Runs the container as a process of the host. All containers of a Pod must agree, and hostNetwork must be true.
  runAsUserName: The user of the processes. The default is that of the image.
`
