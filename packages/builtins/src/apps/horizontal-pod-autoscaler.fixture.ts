/**
 * Writes of HorizontalPodAutoscaler objects and the complaints of Kubernetes 1.36 about them.
 */
import type { Case } from '../writes.fixture.ts'

const newHorizontalPodAutoscaler = {
  apiVersion: 'autoscaling/v2',
  kind: 'HorizontalPodAutoscaler',
  metadata: { name: 'a', namespace: 'ns' },
}

export const cases: readonly Case[] = [
  {
    name: 'HorizontalPodAutoscaler',
    object: {
      ...newHorizontalPodAutoscaler,
      spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' }, maxReplicas: 3 },
    },
    errors: [],
  },
  {
    name: 'HorizontalPodAutoscaler v1',
    object: {
      apiVersion: 'autoscaling/v1',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'a', namespace: 'ns' },
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' },
        maxReplicas: 3,
        targetCPUUtilizationPercentage: 50,
      },
    },
    errors: [],
  },
  {
    name: 'HorizontalPodAutoscaler v1 none',
    object: {
      apiVersion: 'autoscaling/v1',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'a', namespace: 'ns' },
      spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' }, maxReplicas: 3 },
    },
    errors: [],
  },
  {
    name: 'HorizontalPodAutoscaler bad',
    object: { ...newHorizontalPodAutoscaler, spec: { scaleTargetRef: {}, maxReplicas: 0, minReplicas: 0 } },
    errors: [
      'spec.maxReplicas: Required value: must be set and greater than 0',
      'spec.metrics: Forbidden: must specify at least one Object or External metric to support scaling to zero replicas',
      'spec.minReplicas: Invalid value: 0: must be greater than or equal to 1',
      'spec.scaleTargetRef.apiVersion: Invalid value: "": apiVersion must specify API group',
      'spec.scaleTargetRef.kind: Required value',
      'spec.scaleTargetRef.name: Required value',
    ],
  },
  {
    name: 'HorizontalPodAutoscaler order',
    object: {
      ...newHorizontalPodAutoscaler,
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' },
        maxReplicas: -1,
        minReplicas: 5,
      },
    },
    errors: [
      'spec.maxReplicas: Invalid value: -1: must be greater than or equal to 1',
      'spec.maxReplicas: Invalid value: -1: must be greater than or equal to `minReplicas`',
    ],
  },
  {
    name: 'HorizontalPodAutoscaler behavior',
    object: {
      ...newHorizontalPodAutoscaler,
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' },
        maxReplicas: 3,
        behavior: {
          scaleUp: {
            policies: [{ type: 'x', value: 0, periodSeconds: 2000 }],
            stabilizationWindowSeconds: 4000,
            selectPolicy: 'x',
          },
        },
      },
    },
    errors: [
      'spec.behavior.scaleUp.policies[0].periodSeconds: Invalid value: 2000: must be less than or equal to 1800',
      'spec.behavior.scaleUp.policies[0].type: Unsupported value: "x": supported values: "Percent", "Pods"',
      'spec.behavior.scaleUp.policies[0].value: Invalid value: 0: must be greater than zero',
      'spec.behavior.scaleUp.selectPolicy: Unsupported value: "x": supported values: "Disabled", "Max", "Min"',
      'spec.behavior.scaleUp.stabilizationWindowSeconds: Invalid value: 4000: must be less than or equal to 3600',
    ],
  },
  {
    name: 'HorizontalPodAutoscaler behavior def',
    object: {
      ...newHorizontalPodAutoscaler,
      spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' }, maxReplicas: 3, behavior: {} },
    },
    errors: [],
  },
  {
    name: 'HorizontalPodAutoscaler metrics',
    object: {
      ...newHorizontalPodAutoscaler,
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' },
        maxReplicas: 3,
        metrics: [{ type: 'Foo' }, { type: 'Resource' }],
      },
    },
    errors: [
      'spec.metrics[0].type: Unsupported value: "Foo": supported values: "ContainerResource", "External", "Object", "Pods", "Resource"',
      'spec.metrics[1].resource: Required value: must populate information for the given metric source',
    ],
  },
]
