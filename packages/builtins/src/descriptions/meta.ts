/**
 * Descriptions of meta/v1 and of the scalar types that all groups share.
 */
export const metaV1 = `
APIGroup: An API group with its versions, as discovery shows it.
  name: The name of the group, such as apps.
  preferredVersion: The version that the server recommends and that clients use by default.
  serverAddressByClientCIDRs: Addresses of the server by the network of the client, for clients that can reach it in several ways.
  versions: The versions of the group that the server serves.
APIGroupList: The API groups of a server, without the core group.
  groups: The groups, in the order in which clients should prefer them.
APIResource: One resource or subresource of a group version, as discovery shows it.
  categories: Names for sets of resources, such as all, that clients accept in place of this resource.
  group: The group of the kind, when it is not the group of the list. Scale of a Deployment is in autoscaling.
  kind: The kind of the objects that the resource serves.
  name: The plural name in paths, such as pods; for a subresource with its parent: pods/log.
  namespaced: Whether the objects live in a namespace.
  shortNames: Shorter names that clients accept, such as po.
  singularName: The singular name, which clients show in messages.
  storageVersionHash: A hash that changes when the stored version of the resource does. Only equal or not equal has a meaning.
  verbs: What a client may do: get, list, watch, create, update, patch, delete, deletecollection.
  version: The version of the kind, when it is not the version of the list.
APIResourceList: The resources of one group version, as discovery shows them.
  groupVersion: The group and version of the resources, such as apps/v1.
  resources: The resources and their subresources.
APIVersions: The versions of the core group, as /api shows them.
  serverAddressByClientCIDRs: Addresses of the server by the network of the client, for clients that can reach it in several ways.
  versions: The versions that the server serves.
Condition: One aspect of the observed state of an object, as a yes, a no, or not known.
  lastTransitionTime: When the status of this condition last changed.
  message: Details for people about the last change. It may be empty.
  observedGeneration: The generation of the object that this condition is about. When metadata.generation is greater, the condition may no longer hold.
  reason: One CamelCase word for programs that says why the status is what it is.
  status: True, False or Unknown.
  type: The aspect, in CamelCase, such as Ready. An object has at most one condition of a type.
DeleteOptions: How to delete an object.
  apiVersion: The group and version that the options are written in, such as v1.
  dryRun: With All, every check is made but nothing is deleted.
  gracePeriodSeconds: Seconds that the object has to end by itself. 0 deletes at once; absent means the default of the kind.
  ignoreStoreReadErrorWithClusterBreakingPotential: Deletes an object that the server cannot read from its store, without running finalizers and without checking preconditions. It may break the cluster and needs a permission of its own.
  kind: The type of the options: DeleteOptions.
  orphanDependents: Deprecated, use propagationPolicy. True keeps the dependents of the object, false lets them be deleted.
  preconditions: What must be true of the object, or the deletion is refused with a conflict.
  propagationPolicy: What happens to dependents: Orphan keeps them, Background deletes them after the object, Foreground deletes them before it. The default depends on the kind and its finalizers.
FieldSelectorRequirement: One condition on the value of a field.
  key: The field that the condition is about.
  operator: How the values compare: In, NotIn, Exists or DoesNotExist.
  values: The values for In and NotIn, at least one. It must be empty for Exists and DoesNotExist.
FieldsV1: A set of fields as a tree: each key is a field (f:name), a list item (k:{...}, v:value or i:index), or a dot for the item itself.
GroupVersionForDiscovery: One version of an API group.
  groupVersion: The group and version, as in apiVersion.
  version: The version without its group.
LabelSelector: Selects objects by their labels. All parts must match. An empty selector selects everything; an absent one selects nothing.
  matchExpressions: Conditions on labels, all of which must hold.
  matchLabels: Labels that an object must have with exactly these values.
LabelSelectorRequirement: One condition on the value of a label.
  key: The name of the label.
  operator: How the values compare: In, NotIn, Exists or DoesNotExist.
  values: The values for In and NotIn, at least one. It must be empty for Exists and DoesNotExist.
ListMeta: What every list has: its resource version and its position among pages.
  continue: The token for the next page; empty on the last one. The server forgets it after some minutes and then answers 410 Gone.
  remainingItemCount: An estimate of how many objects follow this page. Absent on the last page and for lists with selectors.
  resourceVersion: The version of the collection at the time of the list. A watch from here misses no change.
  selfLink: Deprecated and always empty.
  shardInfo: Set when the list is only a part of the collection, chosen by a shard selector. It needs an alpha feature.
ManagedFieldsEntry: The fields that one manager owns, as server-side apply tracks them.
  apiVersion: The version of the object in which the fields are named.
  fieldsType: The format of the fields. The only one is FieldsV1.
  fieldsV1: The set of fields that the manager owns.
  manager: The name of the program that wrote the fields.
  operation: Apply for server-side apply, Update for every other write.
  subresource: The subresource that was written to, such as status; empty for the object itself.
  time: When the manager last added, changed or removed a field of this set.
MicroTime: A time in RFC 3339 with six digits of the second, such as 2026-01-31T12:00:00.000000Z.
ObjectMeta: What every stored object has: its identity, labels, owners, and when it was created and deleted.
  annotations: Free texts by name, for tools and people. Selectors cannot use them. All together have at most 256 KiB.
  creationTimestamp: CreationTimestamp is a timestamp set by the server when it creates the object. Clients cannot change it.
  deletionGracePeriodSeconds: Seconds between the request to delete and the end of the object, once deletion began. It can only be made shorter.
  deletionTimestamp: When the object is to be gone. The server sets it on a request to delete; it cannot be taken back. The object stays until its finalizers are removed.
  finalizers: Names of work that must be done before the object may go. Each controller removes its own name; a new one cannot be added once deletion began.
  generateName: A prefix for a name that the server completes with random characters. It is used only when name is empty.
  generation: A number that the server raises with each change of the desired state. Compare it with status.observedGeneration.
  labels: Short values by name, for selecting and grouping objects.
  managedFields: Which program owns which fields. The server keeps it for server-side apply; clients rarely need it.
  name: The name, unique among objects of the same kind in its namespace. It cannot be changed.
  namespace: The namespace of the object, default when empty; absent for kinds of the whole cluster. It cannot be changed.
  ownerReferences: The objects that this one depends on. When all of them are gone, the garbage collector deletes it. At most one is the controller.
  resourceVersion: A value that changes with every write. Send it back with an update, and the server refuses the update if another write came first. Do not change it.
  selfLink: Deprecated and always empty.
  uid: An id that no other object ever has, set by the server. An object that is deleted and created again gets another one.
OwnerReference: Names an object that owns this one, in the same namespace or for the whole cluster.
  apiVersion: The group and version of the owner.
  blockOwnerDeletion: When true, a foreground deletion of the owner waits until this object is gone. Setting it needs permission to update finalizers of the owner.
  controller: Whether the owner is the controller that manages this object.
  kind: The kind of the owner.
  name: The name of the owner.
  uid: The uid of the owner. An owner with the same name and another uid does not count.
Patch: A change of an object, in the format that the content type of the request names.
Preconditions: What must be true of an object before it is deleted.
  resourceVersion: The resource version that the object must have.
  uid: The uid that the object must have.
ServerAddressByClientCIDR: An address of the server for the clients of one network.
  clientCIDR: The network of the client, in CIDR form.
  serverAddress: The host, or the host and port, at which these clients reach the server.
ShardInfo: Says which part of a collection a list has.
  selector: The shard selector of the request.
Status: The answer to a request that has no object to return, above all an error.
  code: The HTTP status code, 0 when not set.
  details: More about the cause, depending on the reason.
  message: What happened, for people.
  metadata: The fields of lists, mostly empty here.
  reason: One word for programs, such as NotFound. It is more precise than the HTTP status code.
  status: Success or Failure.
StatusCause: One cause of a failure, such as one invalid field.
  field: The field that caused it, as a path: spec.containers[0].name.
  message: What is wrong, for people.
  reason: One word for programs, such as FieldValueRequired.
StatusDetails: What a failure is about.
  causes: The causes, one for each field or value that is wrong.
  group: The API group of the object.
  kind: The kind or resource of the object. It may differ from that of the request.
  name: The name of the object.
  retryAfterSeconds: After how many seconds the client should try again.
  uid: The uid of the object.
Time: A time in RFC 3339 with whole seconds, such as 2026-01-31T12:00:00Z.
WatchEvent: One event of a watch.
  object: The object after the change; for DELETED its last state; for BOOKMARK only a resource version; for ERROR a Status.
  type: ADDED, MODIFIED, DELETED, BOOKMARK or ERROR.
`

export const scalarTexts = `
Info: The version of a server.
  buildDate: When the server was built.
  compiler: The compiler that built the server.
  emulationMajor: The major version whose behaviour the server emulates.
  emulationMinor: The minor version whose behaviour the server emulates.
  gitCommit: The commit that the server was built from.
  gitTreeState: clean, or dirty when there were uncommitted changes.
  gitVersion: The semantic version, such as v1.36.0. Clients decide by it which features they use.
  goVersion: The version of the language or runtime that runs the server.
  major: The major version.
  minCompatibilityMajor: The major version of the oldest release that this server can run beside.
  minCompatibilityMinor: The minor version of the oldest release that this server can run beside.
  minor: The minor version, with a plus sign for unreleased ones.
  platform: The operating system and the processor architecture.
IntOrString: A whole number or a text, often a percentage such as 25% or the name of a port.
Quantity: An amount as a decimal number with an optional suffix: m for thousandths; k, M, G, T, P, E for powers of 1000; Ki, Mi, Gi, Ti, Pi, Ei for powers of 1024; or an exponent such as 1e3. The server writes it in its shortest exact form.
RawExtension: An object of any kind, with its own apiVersion and kind.
`
