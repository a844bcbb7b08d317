/**
 * Descriptions of coordination.k8s.io/v1, events.k8s.io/v1, node.k8s.io/v1 and flowcontrol.apiserver.k8s.io/v1.
 */
export const coordinationV1 = `
Lease: A lock with an expiry. Programs elect a leader with it, and kubelets report that their Node is alive.
  spec: Who holds the lease, and until when.
LeaseSpec: Who holds a lease, and for how long.
  acquireTime: When the holder got the lease.
  holderIdentity: The name of the holder. Empty means that the lease is free.
  leaseDurationSeconds: Seconds after renewTime when others may take the lease.
  leaseTransitions: How often the lease changed its holder.
  preferredHolder: Who should hold the lease; the present holder should give it up. It needs strategy.
  renewTime: When the holder last renewed the lease.
  strategy: How the holder is elected by coordinated leader election. Absent means that it is not used.
`

export const eventsV1 = `
Event: Something that happened to an object, for people. Events go after an hour or so; programs should not depend on them.
  action: What was done or failed, in CamelCase. Required for new events; at most 128 characters.
  deprecatedCount: The count of core/v1.
  deprecatedFirstTimestamp: The firstTimestamp of core/v1.
  deprecatedLastTimestamp: The lastTimestamp of core/v1.
  deprecatedSource: The source of core/v1.
  eventTime: When it was first seen. Required.
  note: What happened, for people; at most 1 KiB.
  reason: One CamelCase word for programs, such as FailedScheduling. Required for new events; at most 128 characters.
  regarding: The object that it happened to.
  related: A second object that took part.
  reportingController: The controller that reports, such as kubernetes.io/kubelet. Required for new events.
  reportingInstance: The instance of the controller, such as its Pod. Required for new events; at most 128 characters.
  series: How often it was seen; absent for a single event.
  type: Normal or Warning. Required for new events.
EventSeries: Repetitions of an event.
  count: How often it was seen so far.
  lastObservedTime: When it was last seen.
`

export const nodeV1 = `
Overhead: What a Pod needs beside its containers.
  podFixed: The amounts, by resource. They are added to what the containers request.
RuntimeClass: A way to run containers, such as a virtual machine. Pods name it in runtimeClassName.
  handler: The name of the handler in the container runtime of the Nodes. It cannot be changed.
  overhead: What a Pod of the class needs beside its containers.
  scheduling: The Nodes that support the class. Absent means all Nodes.
Scheduling: The Nodes that support a class.
  nodeSelector: Labels that the Nodes have. They are added to the node selector of the Pod, which must not contradict.
  tolerations: Taints of the Nodes. They are added to the tolerations of the Pod.
`

export const flowcontrolV1 = `
ExemptPriorityLevelConfiguration: Settings of a level whose requests are never held back.
  lendablePercent: How much of its seats other levels may borrow, from 0 to 100 percent. The default is 0.
  nominalConcurrencyShares: Its part of the seats of the server, in proportion to the other levels. It does not limit this level. The default is 0.
FlowDistinguisherMethod: How requests are divided into flows.
  type: ByUser, one flow for each user, or ByNamespace, one flow for each namespace.
FlowSchema: Sorts requests into flows and gives them a priority level.
  spec: Which requests it takes, and their priority level.
FlowSchemaCondition < meta.v1.Condition: One aspect of the state of a FlowSchema, such as Dangling: its level does not exist.
FlowSchemaSpec: Which requests a FlowSchema takes, and their level.
  distinguisherMethod: How the requests are divided into flows. Absent means one flow.
  matchingPrecedence: Which FlowSchema counts when several match: the one with the smallest number, from 1 to 10000. The default is 1000.
  priorityLevelConfiguration: The level of the requests. While it does not exist, the FlowSchema is not used.
  rules: The requests. One rule that matches is enough; without rules none match.
FlowSchemaStatus: What is known about a FlowSchema.
  conditions: The latest observations of the FlowSchema.
GroupSubject: One group of users, or all groups.
  name: The name of the group. * means all groups.
LimitResponse: What happens to requests when no seat is free.
  queuing: Settings of the queues. Only for Queue.
  type: Queue lets them wait, Reject answers 429 at once.
LimitedPriorityLevelConfiguration: Settings of a level with limits.
  borrowingLimitPercent: How many seats the level may borrow from others, in percent of its own. Absent means no limit.
  lendablePercent: How much of its seats other levels may borrow, from 0 to 100 percent. The default is 0.
  limitResponse: What happens to requests when no seat is free.
  nominalConcurrencyShares: Its part of the seats of the server, in proportion to the other levels. The default is 30.
NonResourcePolicyRule: Requests to paths that are not resources.
  nonResourceURLs: The paths, such as /healthz; * at the end matches the rest, * alone all.
  verbs: The HTTP methods in lower case. * means all.
PolicyRulesWithSubjects: Requests by who makes them and what they are for. One of the subjects and one of the rules must match.
  nonResourceRules: Requests to paths that are not resources.
  resourceRules: Requests to resources.
  subjects: The users, groups and service accounts.
PriorityLevelConfiguration: A level of priority: how many requests run at the same time, and which wait.
  spec: How many requests of the level run at the same time, and what happens to others.
PriorityLevelConfigurationCondition < meta.v1.Condition: One aspect of the state of a level.
PriorityLevelConfigurationReference: Names a level.
  name: The name of the PriorityLevelConfiguration.
PriorityLevelConfigurationSpec: The settings of a level.
  exempt: Settings for the type Exempt. Not allowed for Limited.
  limited: Settings for the type Limited, which needs them. Not allowed for Exempt.
  type: Exempt is never held back, Limited has limits. It is required.
PriorityLevelConfigurationStatus: What is known about a level.
  conditions: The latest observations of the level.
QueuingConfiguration: The queues of a level.
  handSize: Among how many queues a flow chooses the shortest. More isolates small flows better from a single large one, but less from several. The default is 8; it cannot be above queues.
  queueLengthLimit: How many requests may wait in one queue. Further ones are refused. The default is 50.
  queues: How many queues there are. 1 puts all flows into one. The default is 64.
ResourcePolicyRule: Requests to resources. All parts must match.
  apiGroups: The API groups. * means all and stands alone.
  clusterScope: Whether requests without a namespace match. Without it, namespaces must not be empty. The default is false.
  namespaces: The namespaces. * means all, but not requests without a namespace.
  resources: The resources and subresources, such as pods/status. * means all and stands alone.
  verbs: The verbs. * means all and stands alone.
ServiceAccountSubject: A service account.
  name: The name of the service account. * means all of the namespace.
  namespace: The namespace of the service account.
Subject: Who makes a request. The field that kind names is set.
  group: The group of users, for the kind Group.
  kind: User, Group or ServiceAccount.
  serviceAccount: The service account, for the kind ServiceAccount.
  user: The user, for the kind User.
UserSubject: One user, or all users.
  name: The name of the user. * means all users.
`
