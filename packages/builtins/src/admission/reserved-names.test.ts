import { expect, test } from 'vitest'
import type { ObjectDraft, WriteContext } from '../resource.ts'
import { strategyFor } from '../strategies.ts'

const kinds = [
  'MutatingAdmissionPolicy',
  'MutatingAdmissionPolicyBinding',
  'MutatingWebhookConfiguration',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionPolicyBinding',
  'ValidatingWebhookConfiguration',
]

/** The warnings of a create and of an update of an object. */
function warningsFor(kind: string, name: string): string[] {
  const warnings: string[] = []
  const context: WriteContext = { now: '2026-01-01T00:00:00Z', warn: (text) => warnings.push(text) }
  const { prepareForCreate, prepareForUpdate } = strategyFor('admissionregistration.k8s.io', kind)
  const object = (): ObjectDraft => ({ apiVersion: 'v1', kind, metadata: { name }, spec: {} })
  prepareForCreate?.(object(), context)
  prepareForUpdate?.(object(), object(), context)
  return warnings
}

test.each(kinds)('%s with a reserved name warns at each write', (kind) => {
  expect(warningsFor(kind, 'a.static.k8s.io')).toEqual(
    Array(2).fill(expect.stringMatching(/^metadata\.name: names ending with "\.static\.k8s\.io" are reserved/)),
  )
  expect(warningsFor(kind, 'a.example.com')).toEqual([])
  expect(warningsFor(kind, 'static.k8s.io')).toEqual([])
})
