/**
 * Descriptions of networking.k8s.io/v1 and discovery.k8s.io/v1.
 */
export const networkingV1 = `
HTTPIngressPath: A path of a host and where its requests go.
  backend: Where the requests go.
  path: The path, beginning with a slash. Needed for Exact and Prefix.
  pathType [Exact|ImplementationSpecific|Prefix]: Exact: the whole path, with case; Prefix: its parts between slashes; ImplementationSpecific: as the controller decides.
HTTPIngressRuleValue: The paths of a host.
  paths: The paths. The longest that matches wins.
IPAddress: An IP address that is in use. Its name is the address in its canonical form.
  spec: The object that uses the address.
IPAddressSpec: What uses an IP address.
  parentRef: The object that uses the address. It cannot be changed.
IPBlock: A network without some parts.
  cidr: The network, such as 192.168.1.0/24 or 2001:db8::/64.
  except: Parts of the network that are left out. Each must lie within cidr.
Ingress: Routes HTTP requests from outside to Services, by host and path. It needs an Ingress controller.
  spec: The routes and certificates.
  status: The addresses at which the Ingress is reached.
IngressBackend: Where requests go: either a Service or another object.
  resource: An object of the namespace, such as a bucket. It excludes service.
  service: A Service of the namespace. It excludes resource.
IngressClass: Names an Ingress controller. With the annotation ingressclass.kubernetes.io/is-default-class it is the default.
  spec: The controller of the class.
IngressClassParametersReference: An object with parameters for an Ingress controller.
  apiGroup: The API group of the object. Empty means the core group.
  kind: The kind of the object.
  name: The name of the object.
  namespace: The namespace of the object. Needed for the scope Namespace, not allowed for Cluster.
  scope: Cluster or Namespace: whether the object is in a namespace. The default is Cluster.
IngressClassSpec: The controller of a class.
  controller: The name of the controller, as DOMAIN/PATH with at most 250 characters. It cannot be changed.
  parameters: An object with parameters for the controller.
IngressLoadBalancerIngress: An address of a load balancer.
  hostname: The host name, for load balancers with a name.
  ip: The IP address, for load balancers with an address.
  ports: The state of each port.
IngressLoadBalancerStatus: The addresses of a load balancer.
  ingress: The addresses that traffic should be sent to.
IngressPortStatus: The state of one port of a load balancer.
  error: Why the port does not work, as one CamelCase word; with a domain prefix for reasons of a cloud.
  port: The port number.
  protocol [SCTP|TCP|UDP]: The transport protocol.
IngressRule: The routes of one host.
  host: The host name, without port. It may begin with *. to match one more label. Empty means all hosts.
  http: The paths of the host. Absent sends all requests to the default backend.
IngressServiceBackend: A Service and its port.
  name: The name of a Service in the namespace of the Ingress.
  port: The port of the Service.
IngressSpec: The routes of an Ingress.
  defaultBackend: Where requests go that no rule matches. Needed when there are no rules.
  ingressClassName: The IngressClass whose controller serves this Ingress. The default is the default class, if there is one.
  rules: The routes by host.
  tls: Certificates by host. The port is 443. Entries share it by the host name of the TLS handshake (SNI).
IngressStatus: What is known about an Ingress.
  loadBalancer: The load balancer of the Ingress.
IngressTLS: A certificate for some hosts.
  hosts: The hosts that the certificate is for. The default is all.
  secretName: The Secret with tls.crt and tls.key. Absent leaves the choice of a certificate to the controller.
NetworkPolicy: Which traffic Pods may receive and send. It needs a network plugin that enforces it.
  spec: The Pods that the policy is for, and what it allows.
NetworkPolicyEgressRule: Traffic that is allowed out. Peer and port must both match.
  ports: The ports. Empty or absent means all.
  to: The receivers. Empty or absent means all.
NetworkPolicyIngressRule: Traffic that is allowed in. Peer and port must both match.
  from: The senders. Empty or absent means all.
  ports: The ports. Empty or absent means all.
NetworkPolicyPeer: The other side of traffic: Pods by their labels and namespaces, or a network.
  ipBlock: A network. It excludes the other fields.
  namespaceSelector: The namespaces of the Pods by their labels. Empty means all; absent means that of the policy.
  podSelector: The Pods by their labels. Absent means all Pods of the selected namespaces.
NetworkPolicyPort: A port or a range of ports.
  endPort: The last port of a range that begins at port, which must then be a number.
  port: The port number, or the name of a port of the Pods. Absent means all ports.
  protocol [SCTP|TCP|UDP]: The transport protocol. The default is TCP.
NetworkPolicySpec: Which Pods a policy is for, and what it allows. Policies add up: traffic is allowed if one of them allows it.
  egress: What the Pods may send. Empty allows nothing, if policyTypes has Egress.
  ingress: What the Pods may receive. Empty allows nothing, if policyTypes has Ingress.
  podSelector: The Pods that the policy is for. Empty means all Pods of the namespace.
  policyTypes [Egress|Ingress]: Which directions the policy restricts: Ingress, Egress or both. The default is Ingress, and Egress as well if there are egress rules.
ParentReference: Names an object.
  group: The API group of the object. Empty means the core group.
  name: The name of the object.
  namespace: The namespace of the object.
  resource: The resource of the object, such as services.
ServiceBackendPort: A port of a Service, by name or by number.
  name: The name of the port. It excludes number.
  number: The number of the port. It excludes name.
ServiceCIDR: A range from which Services get their cluster addresses.
  spec: The ranges of addresses.
  status: Whether addresses can be taken from the ranges.
ServiceCIDRSpec: The ranges.
  cidrs: At most one range each of IPv4 and IPv6. It cannot be changed.
ServiceCIDRStatus: What is known about the ranges.
  conditions: The latest observations. Ready shows whether addresses can be taken from it.
`

export const discoveryV1 = `
Endpoint: One backend of a Service.
  addresses: The addresses of the endpoint, of the type of the slice. Clients use the first; at most 100.
  conditions: Whether the endpoint can be used.
  deprecatedTopology: Labels from the older version v1beta1. New values are ignored.
  hints: Where the endpoint should be used.
  hostname: The host name of the endpoint. Endpoints that can stand in for each other may share it.
  nodeName: The Node of the endpoint.
  targetRef: The object behind the endpoint, mostly a Pod.
  zone: The zone of the endpoint.
EndpointConditions: Whether an endpoint can be used.
  ready: Whether it should get traffic: it serves and is not terminating, unless the Service publishes Pods that are not ready. Absent means true.
  serving: Whether it can answer, even while it is terminating. Absent means true.
  terminating: Whether it is being ended. Absent means false.
EndpointHints: Where an endpoint should be used, for shorter ways.
  forNodes: The Nodes whose clients should use it; at most 8.
  forZones: The zones whose clients should use it; at most 8.
EndpointPort: A port of all endpoints of a slice.
  appProtocol: The protocol of the application, such as kubernetes.io/h2c, as a hint for implementations.
  name: The name of the port, unique in the slice. Empty is allowed.
  port: The port number. Absent means all ports.
  protocol [SCTP|TCP|UDP]: The transport protocol. The default is TCP.
EndpointSlice: A part of the backends of a Service. The label kubernetes.io/service-name names the Service.
  addressType [FQDN|IPv4|IPv6]: The type of all addresses. It cannot be changed. FQDN is deprecated.
  endpoints: The backends; at most 1000.
  ports: The ports of all endpoints; at most 100. Empty means no port.
ForNode: A Node whose clients should use an endpoint.
  name: The name of the Node.
ForZone: A zone whose clients should use an endpoint.
  name: The name of the zone.
`
