import { expect, test } from 'vitest'
import { declareKind, type JsonObject, type KubeObject } from '#api'
import { Client } from '#client'
import { startPlane } from './plane.ts'

interface PolicyObject extends KubeObject {
  readonly spec?: JsonObject
  readonly status?: JsonObject
}

const Policy = declareKind<PolicyObject>({
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  kind: 'ValidatingAdmissionPolicy',
  plural: 'validatingadmissionpolicies',
  scope: 'Cluster',
})

async function statusOf(spec: JsonObject): Promise<unknown> {
  const plane = await startPlane()
  try {
    const client = new Client({ transport: plane.transport })
    await client.create(Policy, { metadata: { name: 'p' }, spec })
    await plane.controllers.idle()
    return (await client.get(Policy, { name: 'p' })).status
  } finally {
    await plane.stop()
  }
}

const rule = (group: string, ...resources: string[]): JsonObject => ({
  apiGroups: [group],
  apiVersions: ['v1'],
  operations: ['CREATE'],
  resources,
})

test('policyStatusController says which expressions do not fit the types a policy is about', async () => {
  const status = await statusOf({
    matchConstraints: { resourceRules: [rule('apps', 'deployments', 'deployments/scale'), rule('', 'configmaps')] },
    variables: [{ name: 'wanted', expression: 'object.spec.replicas' }],
    validations: [
      { expression: 'object.spec.replicas > 1' },
      {
        expression: 'object.metadata.labels["a"] == "b" && object.metadata.name != ""',
        messageExpression: 'string(object.kind)',
      },
      { expression: 'object.data.a == "x"' },
    ],
  })
  expect(status).toEqual({
    observedGeneration: 1,
    typeChecking: {
      expressionWarnings: [
        {
          fieldRef: 'spec.validations[0].expression',
          warning:
            "/v1, Kind=ConfigMap: ERROR: <input>:1:7: undefined field 'spec'\n | object.spec.replicas > 1\n | ......^\n",
        },
        {
          fieldRef: 'spec.validations[2].expression',
          warning:
            'apps/v1, Kind=Deployment: ERROR: <input>:1:7: undefined field \'data\'\n | object.data.a == "x"\n | ......^\n',
        },
      ],
    },
  })
})

test('policyStatusController has nothing to say where rules name no types, or expressions fit', async () => {
  expect(
    await statusOf({
      matchConstraints: { resourceRules: [{ ...rule('*', 'deployments'), apiGroups: ['*'] }] },
      validations: [{ expression: 'object.nothing == 1' }],
    }),
  ).toMatchObject({ observedGeneration: 1, typeChecking: {} })
  const spec = {
    matchConstraints: { resourceRules: [rule('', 'pods')] },
    paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
    validations: [{ expression: 'object.spec.containers.all(c, c.image.startsWith(params.data["registry"]))' }],
  }
  expect(await statusOf(spec)).toEqual({ observedGeneration: 1, typeChecking: {} })
})
