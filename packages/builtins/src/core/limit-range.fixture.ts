/**
 * Writes of LimitRange objects and the complaints of Kubernetes 1.36 about them.
 */
import type { Case } from '../writes.fixture.ts'

const newLimitRange = { apiVersion: 'v1', kind: 'LimitRange', metadata: { name: 'a', namespace: 'ns' } }

export const cases: readonly Case[] = [
  {
    name: 'LimitRange c',
    object: {
      ...newLimitRange,
      spec: {
        limits: [
          {
            type: 'Container',
            max: { cpu: '2', memory: '1024Mi' },
            min: { cpu: '100m' },
            maxLimitRequestRatio: { cpu: '10' },
          },
        ],
      },
    },
    errors: [],
  },
  {
    name: 'LimitRange bad',
    object: {
      ...newLimitRange,
      spec: {
        limits: [
          {
            type: 'Container',
            max: { cpu: '1' },
            min: { cpu: '2' },
            default: { cpu: '3' },
            defaultRequest: { cpu: '0.5' },
            maxLimitRequestRatio: { cpu: '0.5' },
          },
        ],
      },
    },
    errors: [
      'spec.limits[0].defaultRequest[cpu]: Invalid value: "500m": min value 2 is greater than default request value 500m',
      'spec.limits[0].default[cpu]: Invalid value: "1": default value 3 is greater than max value 1',
      'spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: "500m": ratio 500m is less than 1',
      'spec.limits[0].min[cpu]: Invalid value: "2": min value 2 is greater than max value 1',
    ],
  },
  {
    name: 'LimitRange pod',
    object: {
      ...newLimitRange,
      spec: {
        limits: [{ type: 'Pod', default: { cpu: '1' }, defaultRequest: { cpu: '1' }, max: { foo: '1', storage: '1' } }],
      },
    },
    errors: [
      "spec.limits[0].default: Forbidden: may not be specified when `type` is 'Pod'",
      "spec.limits[0].defaultRequest: Forbidden: may not be specified when `type` is 'Pod'",
      'spec.limits[0].max[foo]: Invalid value: "foo": must be a standard resource for containers',
      'spec.limits[0].max[foo]: Invalid value: "foo": must be a standard resource type or fully qualified',
      'spec.limits[0].max[storage]: Invalid value: "storage": must be a standard resource for containers',
    ],
  },
  {
    name: 'LimitRange pvc',
    object: { ...newLimitRange, spec: { limits: [{ type: 'PersistentVolumeClaim' }] } },
    errors: [
      'spec.limits[0].limits: Required value: either minimum or maximum storage value is required, but neither was provided',
    ],
  },
  {
    name: 'LimitRange pvc ok',
    object: { ...newLimitRange, spec: { limits: [{ type: 'PersistentVolumeClaim', min: { storage: '1Gi' } }] } },
    errors: [],
  },
  {
    name: 'LimitRange type',
    object: { ...newLimitRange, spec: { limits: [{ type: 'Foo' }, { type: 'a/b' }, { type: 'a/b' }, { type: '' }] } },
    errors: [
      'spec.limits[0].type: Invalid value: "Foo": must be a standard limit type or fully qualified',
      'spec.limits[2].type: Duplicate value: "a/b"',
      'spec.limits[3].type: Invalid value: "": name part must be non-empty',
      "spec.limits[3].type: Invalid value: \"\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an a",
    ],
  },
  {
    name: 'LimitRange gpu',
    object: {
      ...newLimitRange,
      spec: { limits: [{ type: 'Container', default: { 'x.com/gpu': '2' }, defaultRequest: { 'x.com/gpu': '1' } }] },
    },
    errors: [
      'spec.limits[0].defaultRequest[x.com/gpu]: Invalid value: "1": default value 2 must equal to defaultRequest value 1 in x.com/gpu',
    ],
  },
  {
    name: 'LimitRange ratio',
    object: {
      ...newLimitRange,
      spec: {
        limits: [{ type: 'Container', max: { cpu: '2' }, min: { cpu: '1' }, maxLimitRequestRatio: { cpu: '5' } }],
      },
    },
    errors: [
      'spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: "5": ratio 5 is greater than max/min = 2.000000',
    ],
  },
]
