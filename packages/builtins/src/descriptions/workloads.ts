/**
 * Descriptions of apps/v1 and batch/v1.
 */
export const appsV1 = `
ControllerRevision: A snapshot of the state of a controller at one revision. StatefulSets and DaemonSets keep their history in them. It cannot be changed.
  data: The state, in the form that the controller needs for a rollback.
  revision: The number of the revision; a higher one is newer.
DaemonSet: Runs one copy of a Pod on every Node that fits, also on Nodes that are added later.
  spec: The Pod to run on each Node, and how it is updated.
DaemonSetCondition < meta.v1.Condition: One aspect of the state of a DaemonSet.
DaemonSetSpec: Which Pod a DaemonSet runs on each Node and how it is updated.
  minReadySeconds: Seconds that a new Pod must be ready without a crash to count as available. The default is 0.
  revisionHistoryLimit: How many old revisions are kept for rollbacks. The default is 10.
  selector: The Pods that belong to the DaemonSet. It must match the labels of the template and cannot be changed.
  template: The Pod that is created on each Node that its node selector and tolerations allow. Its restart policy must be Always.
  updateStrategy: How existing Pods are replaced when the template changes.
DaemonSetStatus: What a DaemonSet has reached.
  collisionCount: How many hash collisions there were when naming revisions. The controller uses it to find a free name.
  conditions: The latest observations of the DaemonSet.
  currentNumberScheduled: Nodes that run the Pod and should.
  desiredNumberScheduled: Nodes that should run the Pod.
  numberAvailable: Nodes that should run the Pod and have it available, that is ready for minReadySeconds.
  numberMisscheduled: Nodes that run the Pod and should not.
  numberReady: Nodes that should run the Pod and have one that is ready.
  numberUnavailable: Nodes that should run the Pod and have none available.
  observedGeneration: The generation of the DaemonSet that this status is about.
  updatedNumberScheduled: Nodes that run the Pod of the newest template.
DaemonSetUpdateStrategy: How a DaemonSet replaces Pods after a change of its template.
  rollingUpdate: Limits of the rolling update; only for the type RollingUpdate.
  type [OnDelete|RollingUpdate]: RollingUpdate replaces Pods step by step; OnDelete replaces a Pod when you delete it. The default is RollingUpdate.
Deployment: Runs several copies of a Pod and replaces them step by step when the template changes.
  spec: The Pods to run, how many, and how they are replaced.
DeploymentCondition < meta.v1.Condition: One aspect of the state of a Deployment: Available, Progressing or ReplicaFailure.
  lastUpdateTime: When this condition was last written.
DeploymentSpec: Which Pods a Deployment runs, how many, and how they are replaced.
  minReadySeconds: Seconds that a new Pod must be ready without a crash to count as available. The default is 0.
  paused: While true, changes of the template start no rollout.
  progressDeadlineSeconds: Seconds without progress after which the rollout counts as failed, which the condition Progressing shows. Time while paused does not count. The default is 600.
  replicas: How many Pods to run. The default is 1.
  revisionHistoryLimit: How many old ReplicaSets are kept for rollbacks. The default is 10.
  selector: The Pods that belong to the Deployment. It must match the labels of the template and cannot be changed.
  strategy: How old Pods are replaced by new ones.
  template: The Pods to run. A change starts a rollout. The restart policy must be Always.
DeploymentStatus: What a Deployment has reached.
  availableReplicas: Pods that have been ready for at least minReadySeconds.
  collisionCount: How many hash collisions there were when naming ReplicaSets. The controller uses it to find a free name.
  conditions: The latest observations of the Deployment.
  observedGeneration: The generation of the Deployment that this status is about.
  readyReplicas: Pods that are ready.
  replicas: Pods of this Deployment that are not terminating.
  terminatingReplicas: Pods that are being deleted and have not ended yet.
  unavailableReplicas: Pods still missing to full availability: not created yet, or running but not available.
  updatedReplicas: Pods of the newest template that are not terminating.
DeploymentStrategy: How a Deployment replaces old Pods by new ones.
  rollingUpdate: Limits of the rolling update; only for the type RollingUpdate.
  type [Recreate|RollingUpdate]: Recreate ends all old Pods before the first new one starts; RollingUpdate replaces them step by step. The default is RollingUpdate.
ReplicaSet: Keeps a number of equal Pods running. Usually a Deployment creates and changes it for you.
  spec: The Pods to run, and how many.
ReplicaSetCondition < meta.v1.Condition: One aspect of the state of a ReplicaSet, such as ReplicaFailure.
ReplicaSetSpec: Which Pods a ReplicaSet runs and how many.
  minReadySeconds: Seconds that a new Pod must be ready without a crash to count as available. The default is 0.
  replicas: How many Pods to run. The default is 1.
  selector: The Pods that belong to the ReplicaSet. It must match the labels of the template and cannot be changed.
  template: The Pods to create when there are too few. A change does not touch Pods that exist.
ReplicaSetStatus: What a ReplicaSet has reached.
  availableReplicas: Pods that have been ready for at least minReadySeconds.
  conditions: The latest observations of the ReplicaSet.
  fullyLabeledReplicas: Pods that have all labels of the template and are not terminating.
  observedGeneration: The generation of the ReplicaSet that this status is about.
  readyReplicas: Pods that are ready.
  replicas: Pods of this ReplicaSet that are not terminating.
  terminatingReplicas: Pods that are being deleted and have not ended yet.
RollingUpdateDaemonSet: How far a rolling update of a DaemonSet may deviate from one Pod on each Node.
  maxSurge: On how many Nodes an old and a new Pod may run at the same time, as a number or a percentage rounded up. The default is 0. It cannot be 0 when maxUnavailable is 0.
  maxUnavailable: On how many Nodes the Pod may be unavailable during the update, as a number or a percentage rounded up. The default is 1. It cannot be 0 when maxSurge is 0.
RollingUpdateDeployment: How far a rolling update of a Deployment may deviate from the number of Pods.
  maxSurge: How many Pods there may be above the desired number, as a number or a percentage rounded up. The default is 25%. It cannot be 0 when maxUnavailable is 0.
  maxUnavailable: How many Pods may be missing during the update, as a number or a percentage rounded down. The default is 25%. It cannot be 0 when maxSurge is 0.
RollingUpdateStatefulSetStrategy: How a rolling update of a StatefulSet proceeds.
  maxUnavailable: How many Pods may be unavailable during the update, as a number or a percentage rounded up; not 0. The default is 1.
  partition: Only Pods with this ordinal or a higher one are updated. The default is 0: all of them.
StatefulSet: Runs Pods with stable names, stable network identities and storage of their own: web-0, web-1 and so on.
  spec: The Pods and claims to run, and in which order.
StatefulSetCondition < meta.v1.Condition: One aspect of the state of a StatefulSet.
StatefulSetOrdinals: How the Pods of a StatefulSet are numbered.
  start: The ordinal of the first Pod. The default is 0.
StatefulSetPersistentVolumeClaimRetentionPolicy: What happens to the claims that a StatefulSet created from its templates.
  whenDeleted: Retain keeps the claims when the StatefulSet is deleted; Delete deletes them. The default is Retain.
  whenScaled: Retain keeps the claims of Pods that are removed by scaling down; Delete deletes them. The default is Retain.
StatefulSetSpec: Which Pods and claims a StatefulSet runs, and in which order.
  minReadySeconds: Seconds that a new Pod must be ready without a crash to count as available. The default is 0.
  ordinals: The numbering of the Pods, from 0 when absent.
  persistentVolumeClaimRetentionPolicy: Whether claims live longer than their Pods. The default keeps all of them.
  podManagementPolicy [OrderedReady|Parallel]: OrderedReady creates Pods one after another, each when the one before is ready, and deletes them in the opposite order; Parallel does not wait. The default is OrderedReady.
  replicas: How many Pods to run. The default is 1.
  revisionHistoryLimit: How many old revisions are kept for rollbacks. The default is 10.
  selector: The Pods that belong to the StatefulSet. It must match the labels of the template and cannot be changed.
  serviceName: The headless Service that gives each Pod a DNS name: web-0.NAME.NAMESPACE.svc. Create the Service first. It cannot be changed.
  template: The Pods to run. Each gets the name of the StatefulSet with its ordinal. The restart policy must be Always.
  updateStrategy: How existing Pods are replaced when the template changes.
  volumeClaimTemplates: Claims that each Pod gets for itself, named TEMPLATE-POD. A template takes precedence over a volume of the same name in the Pod.
StatefulSetStatus: What a StatefulSet has reached.
  availableReplicas: Pods that have been ready for at least minReadySeconds.
  collisionCount: How many hash collisions there were when naming revisions. The controller uses it to find a free name.
  conditions: The latest observations of the StatefulSet.
  currentReplicas: Pods that were created from currentRevision.
  currentRevision: The revision of the Pods that are not updated yet.
  observedGeneration: The generation of the StatefulSet that this status is about.
  readyReplicas: Pods that are ready.
  replicas: Pods that the controller has created.
  updateRevision: The revision that Pods are updated to.
  updatedReplicas: Pods that were created from updateRevision.
StatefulSetUpdateStrategy: How a StatefulSet replaces Pods after a change of its template.
  rollingUpdate: Limits of the rolling update; only for the type RollingUpdate.
  type [OnDelete|RollingUpdate]: RollingUpdate replaces Pods from the highest ordinal to the lowest; OnDelete replaces a Pod when you delete it. The default is RollingUpdate.
`

export const batchV1 = `
CronJob: Creates Jobs on a schedule.
  spec: The schedule and the Job to create.
CronJobSpec: When a CronJob creates Jobs, and which.
  concurrencyPolicy [Allow|Forbid|Replace]: What happens when the last Job still runs: Allow starts another, Forbid skips this time, Replace ends the old one first. The default is Allow.
  failedJobsHistoryLimit: How many failed Jobs are kept. The default is 1.
  jobTemplate: The Job to create.
  schedule: The times in cron format: minute, hour, day of month, month, day of week. Also @hourly, @daily and similar names.
  startingDeadlineSeconds: How many seconds late a Job may start. A start that is later is skipped and counts as missed.
  successfulJobsHistoryLimit: How many finished Jobs are kept. The default is 3.
  suspend: While true, no Jobs are created; those that run go on. The default is false.
  timeZone: The name of the time zone of the schedule, such as Europe/Berlin. The default is that of the controller manager.
CronJobStatus: What a CronJob has done.
  active: The Jobs that run now.
  lastScheduleTime: When a Job was last created on schedule.
  lastSuccessfulTime: When a Job last finished with success.
Job: Runs Pods until a number of them have finished with success.
  spec: The Pods to run, and when the Job is done.
JobCondition < meta.v1.Condition: One aspect of the state of a Job: Complete, Failed, Suspended, FailureTarget or SuccessCriteriaMet.
  lastProbeTime: When this condition was last checked.
JobSpec: Which Pods a Job runs, how many, and when it has failed or succeeded.
  activeDeadlineSeconds: Seconds that the Job may run before it is ended as failed. Time while suspended does not count.
  backoffLimit: How many times Pods may fail before the Job does. The default is 6; with backoffLimitPerIndex there is no limit by default.
  backoffLimitPerIndex: How many times the Pods of one index may fail before the index does. Only for Indexed Jobs with restart policy Never; it cannot be changed.
  completionMode [Indexed|NonIndexed]: NonIndexed: any successful Pods count; Indexed: each index from 0 to completions-1 needs one successful Pod. The default is NonIndexed.
  completions: How many Pods must succeed. Absent means that the success of one Pod ends the Job.
  managedBy: The controller that manages the Job, as a name with a domain. The built-in controller ignores Jobs with a name other than its own, kubernetes.io/job-controller. It cannot be changed.
  manualSelector: True keeps the selector and labels as you write them, which may catch Pods of other Jobs. Leave it unset to have unique ones generated.
  maxFailedIndexes: How many indexes may fail before the whole Job does. Only with backoffLimitPerIndex.
  parallelism: How many Pods may run at the same time. The default is 1.
  podFailurePolicy: Rules that treat some failures of Pods differently. Needs restart policy Never.
  podReplacementPolicy [Failed|TerminatingOrFailed]: When a replacement of a Pod is created: TerminatingOrFailed as soon as the old one is being deleted, Failed only when it has ended. With podFailurePolicy only Failed is allowed.
  selector: The Pods that belong to the Job. The server generates it unless manualSelector is true.
  successPolicy: Rules by which an Indexed Job succeeds before all of its indexes have. It cannot be changed.
  suspend: While true, no Pods are created and running ones are deleted. Suspending resets the start time. The default is false.
  template: The Pods to run. The restart policy must be Never or OnFailure.
  ttlSecondsAfterFinished: Seconds after its end when the Job is deleted with its Pods. Absent means never, 0 means at once.
JobStatus: What a Job has reached.
  active: Pods that are pending or running and not being deleted.
  completedIndexes: The indexes that succeeded, as numbers and ranges: 1,3-5,7. Only for Indexed Jobs.
  completionTime: When the Job finished with success.
  conditions: The latest observations of the Job. Complete and Failed are final.
  failed: Pods that failed.
  failedIndexes: The indexes that failed, as numbers and ranges: 1,3-5,7. Only with backoffLimitPerIndex.
  ready: Active Pods that are ready.
  startTime: When the controller started the Job. A Job that was suspended gets a new one.
  succeeded: Pods that succeeded.
  terminating: Pods that are being deleted and have not ended yet.
  uncountedTerminatedPods: Pods that have ended but are not in the counters yet.
JobTemplateSpec: The Job that a CronJob creates.
  metadata: Labels and annotations of the Jobs.
  spec: The Job to run.
PodFailurePolicy: How failures of Pods affect a Job. The first rule that matches decides; without a match the failure counts as usual.
  rules: The rules, in order; at most 20.
PodFailurePolicyOnExitCodesRequirement: A condition on the exit code of a container.
  containerName: The container that is looked at. Absent means any container or init container.
  operator [In|NotIn]: In: the exit code is one of the values; NotIn: it is none of them. Exit code 0 never matches.
  values: The exit codes, sorted and without duplicates, at most 255. 0 is not allowed for In.
PodFailurePolicyOnPodConditionsPattern: A pattern for a condition of a Pod.
  status: The status that the condition must have. The default is True.
  type: The type that the condition must have.
PodFailurePolicyRule: What to do with a failed Pod that matches. A rule has either onExitCodes or onPodConditions.
  action [Count|FailIndex|FailJob|Ignore]: FailJob ends the whole Job, FailIndex the index of the Pod, Ignore replaces the Pod without counting, Count counts it towards backoffLimit.
  onExitCodes: The exit codes that match.
  onPodConditions: The conditions that match; one of them is enough. At most 20.
SuccessPolicy: When an Indexed Job succeeds early. One rule that holds is enough; the remaining Pods are then ended.
  rules: The rules, in order; at most 20.
SuccessPolicyRule: A set of indexes, a number of them, or both.
  succeededCount: How many indexes must have succeeded. With succeededIndexes only those are counted.
  succeededIndexes: The indexes that must have succeeded, as numbers and ranges: 1,3-5,7.
UncountedTerminatedPods: Pods whose end the controller has seen and not yet counted.
  failed: The uids of failed Pods.
  succeeded: The uids of successful Pods.
`
