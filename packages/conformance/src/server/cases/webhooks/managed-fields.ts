/**
 * Webhooks that spoil an entry of managedFields.
 */
import assert from 'node:assert/strict'
import type { Loose } from '../../answer.ts'
import { ok, warningsOf } from '../../expect.ts'
import { about, patch, withWebhooks } from '../../hook/admission.ts'
import { configMap } from '../../samples.ts'
import type { ServerCase } from '../../target.ts'

/** What a webhook removes from the first entry. */
const spoiled: Readonly<Record<string, readonly string[]>> = {
  version: ['apiVersion'],
  type: ['fieldsType'],
  all: ['apiVersion', 'fieldsType', 'fieldsV1'],
}

function managersOf({ metadata }: Loose): unknown {
  return (metadata as { managedFields?: { manager: string }[] }).managedFields?.map(({ manager }) => manager)
}

export const webhookManagerCases: readonly ServerCase[] = Object.entries(spoiled).map(([id, fields]) => ({
  id: `server/webhooks/spoiled-entry-${id}`,
  rule: `If a webhook removes ${fields.join(', ')} of an entry, managedFields are restored with a warning, and the write is tracked.`,
  needs: ['callback'],
  run: (place) =>
    withWebhooks(
      place,
      {
        mutating: { a: { m: { rules: [{ ...about('configmaps'), operations: ['UPDATE'] }] } } },
        answers: {
          m: () => patch(...fields.map((field) => ({ op: 'remove', path: `/metadata/managedFields/0/${field}` }))),
        },
      },
      async () => {
        ok(await place.post('configmaps', configMap('a', { data: { own: '1' } }), { query: { fieldManager: 'me' } }))
        const answer = await place.patch('configmaps', 'a', {
          body: { data: { other: '1' } },
          query: { fieldManager: 'you' },
        })
        assert.deepEqual(managersOf(ok(answer, 200)), ['me', 'you'])
        assert.match(warningsOf(answer).join(), /^\.metadata\.managedFields was in an invalid state after admission; /)
        assert.deepEqual(managersOf(ok(await place.get('configmaps', 'a'))), ['me', 'you'])
      },
    ),
}))
