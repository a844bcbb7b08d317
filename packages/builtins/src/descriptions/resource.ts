/**
 * Descriptions of resource.k8s.io/v1: devices and their allocation.
 */
export const resourceV1 = `
AllocatedDeviceStatus: What a driver reports about a device of a claim.
  conditions: The latest observations of the device; at most 8. Ready is True when it is set up.
  data: Further data of the driver; at most 10 KiB.
  device: The name of the device in its pool.
  driver: The driver of the device.
  networkData: Addresses of a network device.
  pool: The pool of the device.
  shareID: The share of the device, when it is allocated several times.
AllocationResult: The devices that a claim has got.
  allocationTimestamp: When the devices were allocated. It may be absent.
  devices: The devices and their settings.
  nodeSelector: The Nodes that can reach the devices. Absent means all.
CELDeviceSelector: Selects devices by an expression in CEL.
  expression: The expression. It is true for devices that fit and can use device.driver, device.attributes and device.capacity. An error ends the allocation.
CapacityRequestPolicy: How much of a capacity a request may take. At most one of validRange and validValues is set.
  default: What a request takes that does not name the capacity.
  validRange: The range of allowed amounts. It needs default.
  validValues: The allowed amounts, sorted; at most 10. Requests are rounded up to the next. It needs default.
CapacityRequestPolicyRange: A range of amounts. Requests below it are raised to min, those above it fail.
  max: The largest amount. The default is the whole capacity.
  min: The smallest amount.
  step: The distance between allowed amounts, counted from min. Requests are rounded up.
CapacityRequirements: The capacity that each device must have or give.
  requests: The amounts by capacity. All must be met.
Counter: An amount of something that devices share.
  value: How much there is.
CounterSet: Counters that devices of a pool share. A device that is allocated takes its part.
  counters: The counters by name; at most 32.
  name: The name of the set, unique in the pool.
Device: One device that can be allocated.
  allNodes: All Nodes can reach the device. Only with perDeviceNodeSelection; it excludes nodeName and nodeSelector.
  allowMultipleAllocations: Whether several requests can share the device. They then divide its capacity.
  attributes: Properties by name, for selectors. At most 32 together with capacity.
  bindingConditions: Conditions of the device that must be True before a Pod is bound to its Node; at most 4.
  bindingFailureConditions: Conditions of the device that end the binding of a Pod when one is True; at most 4.
  bindsToNode: Whether a claim with this device can be used only on the Node that it was allocated for.
  capacity: Amounts by name, such as memory. At most 32 together with attributes.
  consumesCounters: What the device takes of shared counters; at most 2 sets.
  name: The name of the device, unique in the pool.
  nodeAllocatableResourceMappings: Resources of the Node, such as cpu or memory, that the device stands for.
  nodeName: The Node of the device. Only with perDeviceNodeSelection; it excludes nodeSelector and allNodes.
  nodeSelector: The Nodes that can reach the device, with one term. Only with perDeviceNodeSelection; it excludes nodeName and allNodes.
  taints: Marks that keep away requests which do not tolerate them; at most 16.
DeviceAllocationConfiguration < DeviceClaimConfiguration: Settings for allocated devices.
  source [FromClaim|FromClass]: Whether the settings come from the class, which users cannot change, or from the claim.
DeviceAllocationResult: The devices and their settings.
  config: The settings of class and claim together.
  results: The allocated devices.
DeviceAttribute: A property of a device. Exactly one field is set.
  bool: True or false.
  bools: A list of true and false.
  int: A whole number.
  ints: A list of whole numbers. It needs an alpha feature.
  string: A text of at most 64 characters.
  strings: A list of texts of at most 64 characters each. It needs an alpha feature.
  version: A semantic version of at most 64 characters.
  versions: A list of semantic versions. It needs an alpha feature.
DeviceCapacity: An amount that a device has.
  requestPolicy: How much of it a request may take. Only for devices with allowMultipleAllocations. Absent means any amount.
  value: The whole amount. It does not change when a part is taken.
DeviceClaim: The devices that a claim asks for.
  config: Settings for drivers. They do not influence the choice of devices.
  constraints: Conditions on the devices together.
  requests: The requests. All must be met; empty asks for nothing.
DeviceClaimConfiguration: Settings for the devices of a claim.
  opaque: Settings in the form of a driver.
  requests: The requests that the settings are for, as REQUEST or REQUEST/SUBREQUEST. Empty means all.
DeviceClass: A class of devices with settings, made by an administrator. Requests name it.
  spec: The devices of the class and their settings.
DeviceClassConfiguration: Settings for the devices of a class.
  opaque: Settings in the form of a driver.
DeviceClassSpec: Which devices a class has, and their settings. Changes do not affect claims that have their devices.
  config: Settings for drivers. They do not influence the choice of devices.
  extendedResourceName: The extended resource by which Pods can ask for these devices without a claim. It should be unique.
  selectors: Conditions that a device must meet. All must hold.
DeviceConstraint: A condition on several devices together. Besides requests exactly one field is set.
  distinctAttribute: The attribute that all devices must have with different values.
  matchAttribute: The attribute that all devices must have with the same value, such as the same NUMA node.
  requests: The requests that the condition is for, as REQUEST or REQUEST/SUBREQUEST. Empty means all.
DeviceCounterConsumption: What a device takes of a set of counters.
  counterSet: The name of the set.
  counters: The amounts by counter.
DeviceRequest: A request for devices. Exactly one of exactly and firstAvailable is set.
  exactly: One kind of device that must be available.
  firstAvailable: Several kinds of devices, best first. The first that is available is taken.
  name: The name of the request, to which containers, constraints and settings refer.
DeviceRequestAllocationResult: A device that was allocated for a request.
  adminAccess: Whether the device was allocated for administration, beside its normal users.
  bindingConditions: The bindingConditions of the device at the time of the allocation.
  bindingFailureConditions: The bindingFailureConditions of the device at the time of the allocation.
  consumedCapacity: How much of each capacity the request took, after rounding.
  device: The name of the device in its pool.
  driver: The driver of the device.
  pool: The pool of the device.
  request: The request that got the device, as REQUEST or REQUEST/SUBREQUEST.
  shareID: The share of the device, when it is allocated several times.
  tolerations: The tolerations of the request at the time of the allocation.
DeviceSelector: Selects devices. Exactly one field is set.
  cel: An expression in CEL.
DeviceSubRequest < ExactDeviceRequest: One choice of a request with several.
  name: The name of the choice. Others refer to it as REQUEST/NAME.
DeviceTaint: A mark on a device that keeps away claims which do not tolerate it.
  effect [NoExecute|NoSchedule|None]: NoSchedule keeps new Pods away, NoExecute also removes Pods that run, None does nothing.
  key: The key of the taint.
  timeAdded: When the taint was added. The server sets it when absent.
  value: The value that tolerations compare with.
DeviceToleration: A taint of devices that a request accepts. It matches by key, value and effect.
  effect [NoExecute|NoSchedule|None]: The effect that is accepted. Empty accepts all effects.
  key: The key of the taint. Empty, with the operator Exists, accepts all taints.
  operator [Equal|Exists]: Equal compares the value, Exists ignores it. The default is Equal.
  tolerationSeconds: How long Pods stay with a device with a matching NoExecute taint. Absent means for as long as they run, 0 or less means not at all.
  value: The value of the taint; empty for Exists.
ExactDeviceRequest: A request for one or more devices of one kind.
  adminAccess: Asks for access for administration, such as monitoring, beside the normal users. It needs a namespace with the label resource.kubernetes.io/admin-access.
  allocationMode [All|ExactCount]: ExactCount takes as many as count, All takes every device of a pool that fits. The default is ExactCount.
  capacity: The capacity that each device must have or give.
  count: How many devices are needed. Only for ExactCount; the default is 1.
  deviceClassName: The DeviceClass of the devices. It is required.
  selectors: Conditions that a device must meet, beside those of the class. All must hold.
  tolerations: The taints of devices that are accepted.
NetworkDeviceData: Addresses of a network device.
  hardwareAddress: The hardware address, such as a MAC address.
  interfaceName: The name of the network interface in the Pod.
  ips: The IP addresses, with the length of the prefix: 192.0.2.5/24.
NodeAllocatableResourceMapping: How much of a resource of the Node a device stands for.
  allocationMultiplier: The factor for the number of devices or, with capacityKey, for the capacity taken. The default is 1.
  capacityKey: The capacity that is counted. Absent means that devices are.
OpaqueDeviceConfiguration: Settings in the form of a driver.
  driver: The driver that the settings are for.
  parameters: The settings, as the driver defines them; at most 10 KiB.
ResourceClaim: A request for devices, which Pods refer to.
  spec: The devices that are asked for. It cannot be changed.
  status: The devices that the claim has got, and who uses them.
ResourceClaimConsumerReference: Names an object that uses a claim, mostly a Pod.
  apiGroup: The API group of the object. Empty means the core group.
  name: The name of the object.
  resource: The resource of the object, such as pods.
  uid: The uid of the object.
ResourceClaimSpec: What a claim asks for. It cannot be changed.
  devices: The devices that are needed.
ResourceClaimStatus: What a claim has got, and who uses it.
  allocation: The devices. Absent until they are allocated.
  devices: What drivers report about the devices.
  reservedFor: Who may use the claim; at most 256. A Pod that is not here is not started.
ResourceClaimTemplate: A template from which a claim is made for each Pod. It cannot be changed.
  spec: The claims that are made from it. It cannot be changed.
ResourceClaimTemplateSpec: The claim that is made for a Pod.
  metadata: Labels and annotations of the claim. Nothing else is allowed.
  spec: What the claim asks for.
ResourcePool: The pool that a slice is a part of.
  generation: A number that the driver raises with each change of the pool. Slices with an older one are out of date.
  name: The name of the pool, often that of the Node. It cannot be changed.
  resourceSliceCount: How many slices the pool has at this generation. With fewer, the pool is incomplete.
ResourceSlice: Devices that a driver offers. All slices of a pool together are its devices. Drivers write it.
  spec: The devices and the Nodes that can reach them.
ResourceSliceSpec: Devices of a pool and the Nodes that can reach them.
  allNodes: All Nodes can reach the devices. Exactly one of allNodes, nodeName, nodeSelector and perDeviceNodeSelection is set.
  devices: The devices; at most 128, or 64 when one has taints or takes counters. It excludes sharedCounters.
  driver: The driver of the devices. It cannot be changed.
  nodeName: The Node of the devices. It cannot be changed.
  nodeSelector: The Nodes that can reach the devices, with one term.
  perDeviceNodeSelection: Each device says for itself which Nodes can reach it.
  pool: The pool that the slice is a part of.
  sharedCounters: Sets of counters that devices of the pool share; at most 8. It excludes devices.
`
