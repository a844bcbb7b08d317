/**
 * Descriptions of core/v1: Services and Endpoints, ConfigMaps, Secrets, service accounts, references and Events.
 */
export const serviceTexts = `
ClientIPConfig: How long a client stays with the same Pod.
  timeoutSeconds: Seconds without a request after which a client may get another Pod, from 1 to 86400. The default is 10800.
EndpointAddress: An address that serves a Service.
  hostname: The host name of the endpoint.
  ip: The IP address. Loopback and link-local addresses are not allowed.
  nodeName: The Node of the endpoint.
  targetRef: The object behind the address, mostly a Pod.
EndpointPort: A port of endpoints.
  appProtocol: The protocol of the application, such as kubernetes.io/h2c, as a hint for implementations.
  name: The name of the port in the Service. Needed when there are several.
  port: The port number.
  protocol [SCTP|TCP|UDP]: The transport protocol. The default is TCP.
EndpointSubset: Addresses that all have the same ports. Every address serves on every port.
  addresses: Addresses that are ready.
  notReadyAddresses: Addresses that are not ready: still starting, or failing their readiness probe.
  ports: The ports that every address serves on.
Endpoints: The addresses behind a Service. Deprecated; use EndpointSlice of discovery.k8s.io/v1.
  subsets: The addresses, grouped by ports.
LoadBalancerIngress: An address of a load balancer.
  hostname: The host name, for load balancers with a name.
  ip: The IP address, for load balancers with an address.
  ipMode: VIP: packets reach the Node with the address of the load balancer; Proxy: with that of the Node or Pod. Only with ip; the default is VIP.
  ports: The state of each port. When used, it has all ports of the Service.
LoadBalancerStatus: The addresses of a load balancer.
  ingress: The addresses that traffic should be sent to.
PortStatus: The state of one port of a load balancer.
  error: Why the port does not work, as one CamelCase word; with a domain prefix for reasons of a cloud.
  port: The port number.
  protocol [SCTP|TCP|UDP]: The transport protocol.
Service: One stable address and name for a set of Pods.
  spec: The Pods to reach, and how clients reach the Service.
  status: The addresses of the load balancer, if there is one.
ServiceList: A list of Service objects.
  items: List of services, in the order of their namespaces and names.
ServicePort: A port of a Service.
  appProtocol: The protocol of the application, such as kubernetes.io/h2c or kubernetes.io/ws, as a hint for implementations.
  name: The name of the port, unique in the Service. Needed when there are several.
  nodePort: The port on every Node, for the types NodePort and LoadBalancer. The server picks a free one when absent.
  port: The port that clients connect to.
  protocol [SCTP|TCP|UDP]: The transport protocol. The default is TCP.
  targetPort: The port of the Pods, as a number or the name of a container port. The default is port. Ignored for headless Services.
ServiceSpec: Which Pods a Service reaches and how clients reach the Service.
  allocateLoadBalancerNodePorts: False gives a Service of type LoadBalancer no node ports, if its load balancer needs none. The default is true.
  clusterIP: The address in the cluster. The server picks one when absent; None makes a headless Service, whose name resolves to the Pods. Not for ExternalName.
  clusterIPs: The addresses in the cluster, at most one each of IPv4 and IPv6. The first is the same as clusterIP.
  externalIPs: Further addresses at which Nodes accept traffic. The cluster does not manage them.
  externalName: The DNS name that the Service is an alias for. Only for the type ExternalName.
  externalTrafficPolicy [Cluster|Local]: For traffic from outside: Cluster uses all Pods, Local only those on the Node that received it and keeps the address of the client. The default is Cluster.
  healthCheckNodePort: The port at which load balancers ask a Node whether it has Pods. Only for LoadBalancer with externalTrafficPolicy Local. The server picks one when absent.
  internalTrafficPolicy [Cluster|Local]: For traffic from inside: Cluster uses all Pods, Local only those on the same Node. The default is Cluster.
  ipFamilies [|IPv4|IPv6]: The IP families IPv4 and IPv6, in the order of clusterIPs. The default depends on ipFamilyPolicy and the cluster.
  ipFamilyPolicy [PreferDualStack|RequireDualStack|SingleStack]: SingleStack has one family, PreferDualStack two where the cluster has them, RequireDualStack fails otherwise. The default is SingleStack.
  loadBalancerClass: The implementation that serves a Service of type LoadBalancer. Absent means that of the cloud. It cannot be changed.
  loadBalancerIP: Deprecated. The address that the load balancer should have, where the cloud supports it.
  loadBalancerSourceRanges: The networks that may use the load balancer, where the cloud supports it.
  ports: The ports of the Service.
  publishNotReadyAddresses: Treats Pods as ready from their start, which peers of a StatefulSet need to find each other. The default is false.
  selector: The labels of the Pods that get the traffic. Without it, the endpoints are managed by others.
  sessionAffinity [ClientIP|None]: ClientIP sends all requests of a client to the same Pod. The default is None.
  sessionAffinityConfig: Settings of sessionAffinity.
  trafficDistribution: A preference for near Pods: PreferSameZone (or its old name PreferClose) or PreferSameNode. Implementations may ignore it.
  type [ClusterIP|ExternalName|LoadBalancer|NodePort]: ClusterIP has an address in the cluster; NodePort adds a port on every Node; LoadBalancer adds a load balancer; ExternalName is an alias in DNS. The default is ClusterIP.
ServiceStatus: What is known about a Service.
  conditions: The latest observations of the Service.
  loadBalancer: The load balancer, if there is one.
SessionAffinityConfig: Settings of session affinity.
  clientIP: Settings for affinity by the address of the client.
`

export const configTexts = `
ConfigMap: Configuration as texts by key, for Pods and programs. At most 1 MiB; for secrets use Secret.
  binaryData: Binary values in base64. A key cannot be in data as well.
  data: Texts by key. A key has letters, digits, dashes, underscores and dots.
  immutable: True forbids further changes of the data, and cannot be taken back. The default is false.
LocalObjectReference: Names an object in the same namespace.
  name: The name of the object.
ObjectReference: Names an object, or a part of one.
  apiVersion: The group and version of the object.
  fieldPath: The part of the object, such as spec.containers{name}.
  kind: The kind of the object.
  name: The name of the object.
  namespace: The namespace of the object.
  resourceVersion: The resource version of the object at the time.
  uid: The uid of the object.
Secret: Confidential values by key, such as passwords and keys. At most 1 MiB.
  data: Values in base64 by key. A key has letters, digits, dashes, underscores and dots.
  immutable: True forbids further changes of the data, and cannot be taken back. The default is false.
  stringData: Plain texts by key, for writing only. The server puts them into data, over values with the same key.
  type: What the Secret is for, such as kubernetes.io/tls. Some types need certain keys. The default is Opaque. It cannot be changed.
SecretReference: Names a Secret.
  name: The name of the Secret.
  namespace: The namespace of the Secret.
ServiceAccount: An identity for programs. Permissions are granted to it, and Pods run as it.
  automountServiceAccountToken: Whether Pods get a token of this account. A Pod can decide otherwise. The default is true.
  imagePullSecrets: Secrets with credentials for registries, for all Pods that use the account.
  secrets: Deprecated. Secrets that Pods of this account may mount, if an annotation enforces it. It is not the list of its tokens.
`

export const eventTexts = `
Event: Something that happened to an object, for people. Events go after an hour or so; programs should not depend on them.
  action: What was done or failed, for newer reporters.
  count: How often it happened.
  eventTime: When it was first seen, for newer reporters.
  firstTimestamp: When it was first seen.
  involvedObject: The object that it happened to.
  lastTimestamp: When it was last seen.
  message: What happened, for people.
  reason: One CamelCase word for programs, such as FailedScheduling.
  related: A second object that took part.
  reportingComponent: The controller that reports, such as kubernetes.io/kubelet.
  reportingInstance: The instance of the controller, such as its Pod.
  series: How often it was seen; absent for a single event.
  source: The component that reports, for older reporters.
  type: Normal or Warning.
EventSeries: Repetitions of an event.
  count: How often it was seen so far.
  lastObservedTime: When it was last seen.
EventSource: The component that reports an event.
  component: The name of the component.
  host: The Node of the component.
`
