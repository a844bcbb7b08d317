/**
 * Descriptions of autoscaling/v1, autoscaling/v2, policy/v1 and scheduling/v1.
 */
export const autoscalingV1 = `
CrossVersionObjectReference: Names an object in the same namespace.
  apiVersion: The group and version of the object.
  kind: The kind of the object.
  name: The name of the object.
HorizontalPodAutoscaler: Changes the number of Pods of a workload by its use of CPU. autoscaling/v2 can use other metrics too.
  spec: What is scaled, and within which limits.
HorizontalPodAutoscalerSpec: What is scaled, between which limits, and for which use of CPU.
  maxReplicas: The most Pods that the autoscaler may ask for. It cannot be less than minReplicas.
  minReplicas: The fewest Pods that the autoscaler may ask for. The default is 1; 0 needs the alpha feature HPAScaleToZero and a metric of an object or of an external source.
  scaleTargetRef: The workload that is scaled. It must have the subresource scale.
  targetCPUUtilizationPercentage: The average use of CPU to aim for, in percent of what the Pods request.
HorizontalPodAutoscalerStatus: What an autoscaler has seen and done.
  currentCPUUtilizationPercentage: The average use of CPU of all Pods, in percent of what they request.
  currentReplicas: How many Pods the autoscaler saw last.
  desiredReplicas: How many Pods the autoscaler asked for last.
  lastScaleTime: When the autoscaler last changed the number of Pods.
  observedGeneration: The generation of the autoscaler that this status is about.
Scale: How many Pods a workload runs, in the same form for every kind of workload.
  spec: The desired number of Pods.
  status: The observed number of Pods.
ScaleSpec: The desired number of Pods.
  replicas: How many Pods to run.
ScaleStatus: The observed number of Pods.
  replicas: How many Pods exist.
  selector: The label selector of the Pods as text, in the form of the labelSelector parameter.
`

export const autoscalingV2 = `
ContainerResourceMetricSource: The use of CPU or memory of one container in each Pod, averaged over the Pods.
  container: The name of the container.
  name: The resource: cpu or memory.
  target: The value to aim for.
ContainerResourceMetricStatus: The observed use of CPU or memory of one container in each Pod.
  container: The name of the container.
  current: The observed value.
  name: The resource: cpu or memory.
CrossVersionObjectReference: Names an object in the same namespace.
  apiVersion: The group and version of the object.
  kind: The kind of the object.
  name: The name of the object.
ExternalMetricSource: A metric from outside the cluster, such as the length of a queue.
  metric: The metric and a selector for it.
  target: The value to aim for.
ExternalMetricStatus: The observed value of a metric from outside the cluster.
  current: The observed value.
  metric: The metric and the selector for it.
HPAScalingPolicy: How much may change within a period.
  periodSeconds: The length of the period, from 1 to 1800 seconds.
  type: Pods counts Pods; Percent is relative to the current number.
  value: How many Pods, or how many percent, may be added or removed. It must be above 0.
HPAScalingRules: How fast the autoscaler may act in one direction.
  policies: The limits. By default up: the larger of 4 Pods and 100 percent in 15 seconds; down: all Pods in 15 seconds.
  selectPolicy: Which limit counts when there are several: Max, Min, or Disabled to never scale in this direction. The default is Max.
  stabilizationWindowSeconds: How many seconds of past recommendations are looked at, to take the safest one; 0 to 3600. The default is 0 up and 300 down.
  tolerance: How far a metric may be from its target without a change, as a ratio such as 0.05. The default is that of the cluster, usually 0.1.
HorizontalPodAutoscaler: Changes the number of Pods of a workload by metrics.
  spec: What is scaled, and within which limits.
HorizontalPodAutoscalerBehavior: How fast the autoscaler may scale up and down.
  scaleDown: The rules for removing Pods. By default it may go down to minReplicas at once, after looking at the last 300 seconds.
  scaleUp: The rules for adding Pods. By default 4 Pods or 100 percent every 15 seconds, whichever is more, without a window.
HorizontalPodAutoscalerCondition < meta.v1.Condition: One aspect of the state of an autoscaler: ScalingActive, AbleToScale or ScalingLimited.
HorizontalPodAutoscalerSpec: What is scaled, between which limits, and by which metrics.
  behavior: How fast the number of Pods may change.
  maxReplicas: The most Pods that the autoscaler may ask for. It cannot be less than minReplicas.
  metrics: The metrics to look at. The one that asks for the most Pods decides. The default is 80 percent of the requested CPU.
  minReplicas: The fewest Pods that the autoscaler may ask for. The default is 1; 0 needs the alpha feature HPAScaleToZero and a metric of an object or of an external source.
  scaleTargetRef: The workload that is scaled. It must have the subresource scale.
HorizontalPodAutoscalerStatus: What an autoscaler has seen and done.
  conditions: The latest observations of the autoscaler.
  currentMetrics: The last observed values of the metrics.
  currentReplicas: How many Pods the autoscaler saw last.
  desiredReplicas: How many Pods the autoscaler asked for last.
  lastScaleTime: When the autoscaler last changed the number of Pods.
  observedGeneration: The generation of the autoscaler that this status is about.
MetricIdentifier: Names a metric.
  name: The name of the metric.
  selector: Selects among series of the same name, as the metrics server defines it. Absent means by name only.
MetricSpec: One metric to scale by. The field that type names must be set.
  containerResource: CPU or memory of one container of each Pod.
  external: A metric from outside the cluster.
  object: A metric of one object, such as requests per second of an Ingress.
  pods: A metric of each Pod, averaged over the Pods.
  resource: CPU or memory of each Pod.
  type: ContainerResource, External, Object, Pods or Resource.
MetricStatus: The last observed value of one metric. The field that type names is set.
  containerResource: CPU or memory of one container of each Pod.
  external: A metric from outside the cluster.
  object: A metric of one object, such as requests per second of an Ingress.
  pods: A metric of each Pod, averaged over the Pods.
  resource: CPU or memory of each Pod.
  type: ContainerResource, External, Object, Pods or Resource.
MetricTarget: The value of a metric to aim for.
  averageUtilization: The average over all Pods, in percent of what they request. Only for resource metrics.
  averageValue: The average over all Pods, as an amount.
  type: Which of the fields counts: Utilization, Value or AverageValue.
  value: The value of the metric itself, as an amount.
MetricValueStatus: An observed value of a metric.
  averageUtilization: The average over all Pods, in percent of what they request.
  averageValue: The average over all Pods, as an amount.
  value: The value of the metric itself, as an amount.
ObjectMetricSource: A metric of one object.
  describedObject: The object that the metric is about.
  metric: The metric and a selector for it.
  target: The value to aim for.
ObjectMetricStatus: The observed value of a metric of one object.
  current: The observed value.
  describedObject: The object that the metric is about.
  metric: The metric and the selector for it.
PodsMetricSource: A metric of each Pod, averaged over the Pods.
  metric: The metric and a selector for it.
  target: The value to aim for, as an average.
PodsMetricStatus: The observed value of a metric of the Pods.
  current: The observed value.
  metric: The metric and the selector for it.
ResourceMetricSource: The use of CPU or memory of each Pod, averaged over the Pods.
  name: The resource: cpu or memory.
  target: The value to aim for.
ResourceMetricStatus: The observed use of CPU or memory of the Pods.
  current: The observed value.
  name: The resource: cpu or memory.
`

export const policyV1 = `
Eviction: Asks to end a Pod gently. The server refuses it with 429 while a PodDisruptionBudget does not allow it.
  deleteOptions: How to delete the Pod.
PodDisruptionBudget: Limits how many Pods of an application may be evicted at the same time.
  spec: The Pods that are protected, and how many must stay.
  status: How many evictions are allowed now.
PodDisruptionBudgetSpec: Which Pods are protected and how many must stay.
  maxUnavailable: How many of the Pods may be missing after an eviction, as a number or a percentage. 0 forbids every eviction. It excludes minAvailable.
  minAvailable: How many of the Pods must still be available after an eviction, as a number or a percentage. 100% forbids every eviction. It excludes maxUnavailable.
  selector: The Pods that are protected. An empty selector takes all Pods of the namespace, an absent one none.
  unhealthyPodEvictionPolicy [AlwaysAllow|IfHealthyBudget]: Whether running Pods that are not ready may be evicted: IfHealthyBudget only while enough others are healthy, AlwaysAllow at any time. The default is IfHealthyBudget.
PodDisruptionBudgetStatus: What a budget allows now.
  conditions: The latest observations of the budget. DisruptionAllowed shows whether an eviction is allowed, and why.
  currentHealthy: Pods that are ready.
  desiredHealthy: The fewest Pods that must be ready.
  disruptedPods: Pods whose eviction was granted but whose deletion the controller has not seen yet, with the time of the grant.
  disruptionsAllowed: How many more Pods may be evicted now.
  expectedPods: How many Pods the budget counts.
  observedGeneration: The generation of the budget that this status is about. The numbers are out of date when metadata.generation is greater.
`

export const schedulingV1 = `
PriorityClass: Gives a name to a priority of Pods. Pods name it in priorityClassName.
  description: When to use this class, for people.
  globalDefault: Whether Pods without a class get this one. At most one class should be the default; of several the one with the smallest value counts.
  preemptionPolicy [Never|PreemptLowerPriority]: Whether Pods of this class may push out Pods of lower priority. The default is PreemptLowerPriority.
  value: The priority that Pods get; higher goes first. User classes have at most 1000000000. It cannot be changed.
`
