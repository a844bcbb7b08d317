/** What validating policies note for the audit log, asked directly: no client sees it. */
import { afterAll, expect, test } from 'vitest'
import type { JsonObject } from '#api'
import { silentLogger, SimulatedClock } from '#base'
import { columnsFor, makeCatalog, strategyFor } from '@evenkeel/builtins'
import { openMemoryStore } from '#store'
import { Informers } from '../informers.ts'
import { Registry } from '../registry/registry.ts'
import { Storage } from '../storage/storage.ts'
import { ReinvocationContext } from './admission.ts'
import { Matcher } from './matching.ts'
import { ParamResolver } from './policies.ts'
import { validatingPolicyPlugin } from './validating-policies.ts'

const group = 'admissionregistration.k8s.io'
const registry = new Registry(makeCatalog({ strategyFor, columnsFor }))
const clock = new SimulatedClock()
const store = openMemoryStore({ clock })
afterAll(() => store.close())

async function notesFor(
  spec: JsonObject,
  actions: readonly string[],
): Promise<{ notes: Record<string, string>; refusal: string }> {
  const informers = new Informers({ store, registry, clock, log: silentLogger, cluster: 'c' })
  const namespaces = informers.forResource('', 'namespaces')
  const authorizer = { decide: () => ({ allowed: true, why: '' }) } as never
  const step = validatingPolicyPlugin(
    {
      informers,
      params: new ParamResolver({ storage: new Storage(store, { clock, cluster: 'c' }), registry }),
      authorizer,
    },
    new Matcher({ registry, namespaces }),
  )
  const put = (plural: string, object: JsonObject): void => {
    informers.forResource(plural === 'namespaces' ? '' : group, plural).put(Buffer.from(JSON.stringify(object)), 1)
  }
  const rule = { apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*'] }
  put('namespaces', { metadata: { name: 'default' } })
  put('validatingadmissionpolicies', {
    metadata: { name: 'p' },
    spec: { matchConstraints: { resourceRules: [rule] }, ...spec },
  })
  for (const name of ['b1', 'b2'])
    put('validatingadmissionpolicybindings', {
      metadata: { name },
      spec: { policyName: 'p', validationActions: [...actions] },
    })
  const resource = registry.find('', 'v1', 'configmaps')
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x', namespace: 'default' } }
  const notes: Record<string, string> = {}
  const refusal = await step
    .validate?.(object, {
      operation: 'CREATE',
      target: { resource: resource as NonNullable<typeof resource>, namespace: 'default', name: 'x' },
      user: { name: 'u', groups: [] },
      dryRun: false,
      options: {},
      reinvocation: new ReinvocationContext(),
      warn: () => undefined,
      annotate: (key, value) => {
        notes[key] = value
      },
    })
    ?.then(
      () => '',
      (error: unknown) => String(error),
    )
  return { notes, refusal: refusal ?? '' }
}

test('validatingPolicies notes failures and what annotations give, once for all bindings, and leaves out what is null', async () => {
  const spec = {
    validations: [{ expression: 'true' }, { expression: 'false', message: 'no' }],
    auditAnnotations: [
      { key: 'name', valueExpression: '" " + object.metadata.name' },
      { key: 'none', valueExpression: 'null' },
    ],
  }
  const { notes, refusal } = await notesFor(spec, ['Audit'])
  expect(refusal).toBe('')
  expect(notes).toEqual({
    'p/name': 'x',
    'validation.policy.admission.k8s.io/validation_failure':
      '[{"message":"no","policy":"p","binding":"b1","expressionIndex":1,"validationActions":["Audit"]}]',
  })
})

test('validatingPolicies refuses and notes where both are wanted', async () => {
  const { notes, refusal } = await notesFor(
    { validations: [{ expression: 'false' }], auditAnnotations: [{ key: 'k', valueExpression: '"v"' }] },
    ['Deny', 'Audit'],
  )
  expect(refusal).toContain("ValidatingAdmissionPolicy 'p' with binding 'b1' denied request: failed expression: false")
  expect(Object.keys(notes).sort()).toEqual(['p/k', 'validation.policy.admission.k8s.io/validation_failure'])
})
