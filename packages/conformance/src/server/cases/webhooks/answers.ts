/**
 * Responses of admission webhooks: changes, denials, invalid responses and timeouts; and the order of calls.
 */
import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { defineCustom } from '../../custom.ts'
import { expectMatch, expectStatus, ok, warningsOf } from '../../expect.ts'
import { about, patch, withWebhooks } from '../../hook/admission.ts'
import { ownersOf } from '../../owners.ts'
import { configMap } from '../../samples.ts'
import type { Fields } from '../../samples.ts'
import type { ServerCase } from '../../target.ts'

const needs = ['callback'] as const
const names = (asked: readonly { readonly hook: string }[]): string[] => asked.map(({ hook }) => hook)
const note = (key: string, value: string): Fields =>
  patch({ op: 'add', path: '/metadata/annotations', value: { [key]: value } })

const changing: readonly ServerCase[] = [
  {
    id: 'server/webhooks/order',
    rule: 'Mutating webhooks are called one by one, ordered by configuration name and position; each gets the result of the previous one.',
    needs,
    run: (place) =>
      withWebhooks(
        place,
        {
          mutating: { b: { third: {} }, a: { first: {}, second: {} } },
          answers: {
            first: () =>
              patch({ op: 'add', path: '/data', value: { a: '1' } }, { op: 'add', path: '/unknown', value: { x: 1 } }),
          },
        },
        async (taken) => {
          const answer = await place.post('configmaps', configMap('a', { data: {} }), {
            query: { fieldValidation: 'Strict' },
          })
          expectMatch(ok(answer, 201), { data: { a: '1' }, unknown: undefined })
          assert.deepEqual(warningsOf(answer), [])
          const asked = taken()
          assert.deepEqual(names(asked), ['first', 'second', 'third'])
          expectMatch(asked[1]?.request['object'], { data: { a: '1' }, unknown: undefined })
        },
      ),
  },
  {
    id: 'server/webhooks/reinvocation',
    rule: 'A webhook with reinvocationPolicy IfNeeded is called once more when a later one changed the object.',
    needs,
    async run(place) {
      let count = 0
      const setup = {
        mutating: {
          a: { never: {}, again: { reinvocationPolicy: 'IfNeeded' } },
          b: { last: { reinvocationPolicy: 'IfNeeded' } },
        },
        answers: { last: () => note('last', String(++count)) },
      }
      await withWebhooks(place, setup, async (taken) => {
        ok(await place.post('configmaps', configMap('a')), 201)
        assert.deepEqual(names(taken()), ['never', 'again', 'last', 'again'])
      })
    },
  },
  {
    id: 'server/webhooks/reinvocation-changes',
    rule: 'Webhooks later in the second round see its changes, and there is no third round.',
    needs,
    async run(place) {
      let count = 0
      const setup = {
        mutating: { a: { again: { reinvocationPolicy: 'IfNeeded' } }, b: { last: { reinvocationPolicy: 'IfNeeded' } } },
        answers: { again: () => note('again', String(++count)), last: () => note('last', String(++count)) },
      }
      await withWebhooks(place, setup, async (taken) => {
        ok(await place.post('configmaps', configMap('a')), 201)
        assert.deepEqual(names(taken()), ['again', 'last', 'again', 'last'])
      })
    },
  },
  {
    id: 'server/webhooks/no-reinvocation',
    rule: 'A webhook called after the last change is not called again.',
    needs,
    run: (place) =>
      withWebhooks(
        place,
        {
          mutating: { a: { one: { reinvocationPolicy: 'IfNeeded' }, two: { reinvocationPolicy: 'IfNeeded' } } },
          answers: { one: () => note('a', 'b') },
        },
        async (taken) => {
          ok(await place.post('configmaps', configMap('a')), 201)
          assert.deepEqual(names(taken()), ['one', 'two'])
        },
      ),
  },
  {
    id: 'server/webhooks/unowned-changes',
    rule: 'Fields added by a webhook have no manager.',
    needs,
    run: (place) =>
      withWebhooks(
        place,
        { mutating: { a: { m: {} } }, answers: { m: () => patch({ op: 'add', path: '/data/added', value: 'x' }) } },
        async () => {
          const made = ok(
            await place.post('configmaps', configMap('a', { data: { own: '1' } }), { query: { fieldManager: 'me' } }),
            201,
          )
          assert.deepEqual(
            [made.data, ownersOf(made)],
            [{ own: '1', added: 'x' }, { 'me Update': ['.data', '.data.own'] }],
          )
        },
      ),
  },
  {
    id: 'server/webhooks/spoiled-managers',
    rule: 'If a webhook makes managedFields invalid, they are restored with a warning.',
    needs,
    run: (place) =>
      withWebhooks(
        place,
        {
          mutating: { a: { m: {} } },
          answers: {
            m: () =>
              patch({
                op: 'replace',
                path: '/metadata/managedFields',
                value: [{ manager: 'evil', operation: 'Nonsense' }],
              }),
          },
        },
        async () => {
          const answer = await place.post('configmaps', configMap('a', { data: { own: '1' } }), {
            query: { fieldManager: 'me' },
          })
          expectMatch(ok(answer, 201), { metadata: { managedFields: [{ manager: 'me' }] } })
          assert.match(
            warningsOf(answer).join(),
            /^\.metadata\.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller/,
          )
        },
      ),
  },
  {
    id: 'server/webhooks/custom-pruning',
    rule: 'Fields that a webhook adds to a custom object are pruned and defaulted by its schema.',
    needs,
    async run(place) {
      const widgets = await defineCustom(place, {
        spec: { type: 'object', properties: { size: { type: 'integer' }, color: { type: 'string', default: 'red' } } },
      })
      await withWebhooks(
        place,
        {
          mutating: { a: { m: { rules: [{ ...about('widgets'), apiGroups: [widgets.group] }] } } },
          answers: { m: () => patch({ op: 'add', path: '/spec', value: { size: 2, unknown: true } }) },
        },
        async () => {
          expectMatch(ok(await widgets.create('a', {}), 201), { spec: { size: 2, color: 'red', unknown: undefined } })
        },
      )
    },
  },
  {
    id: 'server/webhooks/validated-after',
    rule: 'The result of webhooks is validated like any other object.',
    needs,
    run: (place) =>
      withWebhooks(
        place,
        {
          mutating: { a: { m: {} } },
          answers: { m: () => patch({ op: 'add', path: '/metadata/labels', value: { 'not a label': 'x' } }) },
        },
        async () => {
          expectStatus(await place.post('configmaps', configMap('a')), { code: 422, reason: 'Invalid' })
        },
      ),
  },
  {
    id: 'server/webhooks/delete-changes',
    rule: 'A webhook cannot change an object on delete; an attempt keeps the object.',
    needs,
    run: (place) =>
      withWebhooks(
        place,
        {
          mutating: { a: { m: { rules: [{ ...about('configmaps'), operations: ['DELETE'] }] } } },
          answers: { m: () => note('a', 'b') },
        },
        async () => {
          ok(await place.post('configmaps', configMap('a')), 201)
          expectStatus(await place.delete('configmaps', 'a'), {
            code: 500,
            reason: 'InternalError',
            message:
              'Internal error occurred: admission webhook "m.judge.example.com" attempted to modify the object, which is not supported for this operation',
          })
          ok(await place.get('configmaps', 'a'), 200)
        },
      ),
  },
  {
    id: 'server/webhooks/patch-does-not-fit',
    rule: 'A patch that does not apply to the object rejects the write, whatever the failure policy.',
    needs,
    run: (place) =>
      withWebhooks(
        place,
        {
          mutating: { a: { m: { failurePolicy: 'Ignore' } } },
          answers: {
            m: ({ request: { name } }) =>
              patch(
                (name as unknown) === 'a'
                  ? { op: 'remove', path: '/spec/nothing' }
                  : { op: 'add', path: '/data', value: 'text' },
              ),
          },
        },
        async () => {
          for (const name of ['a', 'b'])
            expectStatus(await place.post('configmaps', configMap(name)), { code: 500, reason: 'InternalError' })
        },
      ),
  },
]

const denied = 'admission webhook "v.judge.example.com" denied the request'
const denials: Readonly<Record<string, { answer: Fields; code: number; reason?: string; message: string }>> = {
  'without-explanation': { answer: {}, code: 400, message: `${denied} without explanation` },
  'with-message': { answer: { status: { message: 'too small' } }, code: 400, message: `${denied}: too small` },
  'with-good-code': {
    answer: { status: { code: 200, reason: 'Silly', status: 'Success' } },
    code: 400,
    reason: 'Silly',
    message: `${denied}: Silly`,
  },
  'with-code': {
    answer: { status: { code: 403, reason: 'Forbidden', message: 'no' } },
    code: 403,
    reason: 'Forbidden',
    message: `${denied}: no`,
  },
}

const refusing: readonly ServerCase[] = [
  ...Object.entries(denials).map(([id, { answer, code, message, reason }]): ServerCase => ({
    id: `server/webhooks/denied-${id}`,
    rule: `A denial ${id.replaceAll('-', ' ')} returns ${code}, whatever the failure policy.`,
    needs,
    run: (place) =>
      withWebhooks(
        place,
        {
          validating: { a: { v: { failurePolicy: 'Ignore' } } },
          answers: { v: () => ({ allowed: false, ...answer }) },
        },
        async () => {
          const status = expectStatus(await place.post('configmaps', configMap('a')), { code, message })
          assert.equal(status['reason'], reason)
          expectStatus(await place.get('configmaps', 'a'), { code: 404 })
        },
      ),
  })),
  {
    id: 'server/webhooks/denied-deletion',
    rule: 'An object whose deletion is denied stays.',
    needs,
    run: (place) =>
      withWebhooks(
        place,
        {
          validating: { a: { v: { rules: [{ ...about('configmaps'), operations: ['DELETE'] }] } } },
          answers: { v: () => ({ allowed: false }) },
        },
        async () => {
          ok(await place.post('configmaps', configMap('a')), 201)
          expectStatus(await place.delete('configmaps', 'a'), { code: 400, message: `${denied} without explanation` })
          ok(await place.get('configmaps', 'a'), 200)
        },
      ),
  },
  {
    id: 'server/webhooks/warnings',
    rule: 'Warnings of webhooks reach the client, also when the request is denied.',
    needs,
    run: (place) =>
      withWebhooks(
        place,
        {
          mutating: { a: { m: {} } },
          validating: { a: { v: {} } },
          answers: {
            m: () => ({ warnings: ['mind the gap'] }),
            v: ({ request: { name } }) => ({ allowed: (name as unknown) !== 'b', warnings: ['and the step'] }),
          },
        },
        async () => {
          for (const name of ['a', 'b'])
            assert.deepEqual(warningsOf(await place.post('configmaps', configMap(name))), [
              'mind the gap',
              'and the step',
            ])
        },
      ),
  },
]

const failures: Readonly<Record<string, { kind?: 'validating'; answer: Fields; message: RegExp }>> = {
  'patch-without-type': {
    answer: { patch: Buffer.from('[]').toString('base64') },
    message: /: received invalid webhook response: webhook returned response\.patch but not response\.patchType$/,
  },
  'type-without-patch': {
    answer: { patchType: 'JSONPatch' },
    message: /: received invalid webhook response: webhook returned response\.patchType but not response\.patch$/,
  },
  'other-patch-type': {
    answer: { ...patch({ op: 'remove', path: '/data' }), patchType: 'Merge' },
    message: /: unsupported patch type "Merge"$/,
  },
  'malformed-patch': {
    answer: { patchType: 'JSONPatch', patch: Buffer.from('{"a":1}').toString('base64') },
    message: /: received undecodable patch in webhook response: /,
  },
  'other-uid': {
    answer: { uid: 'other' },
    message: /: received invalid webhook response: expected response\.uid="[0-9a-f-]{36}", got "other"$/,
  },
  'validating-patch': {
    kind: 'validating',
    answer: patch({ op: 'remove', path: '/data' }),
    message: /: received invalid webhook response: validating webhook may not return response\.patch$/,
  },
  'validating-patch-type': {
    kind: 'validating',
    answer: { patchType: 'JSONPatch' },
    message: /: received invalid webhook response: validating webhook may not return response\.patchType$/,
  },
}

const raw: Readonly<Record<string, (response: ServerResponse) => void>> = {
  error: (response) => response.writeHead(500).end('broken'),
  redirect: (response) => response.writeHead(302, { location: 'https://127.0.0.1:1/' }).end(),
  'no-json': (response) => response.end('hello'),
  nothing: (response) => response.end(),
  'other-object': (response) => response.end('{"apiVersion":"v1","kind":"ConfigMap"}'),
  'hang-up': (response) => response.socket?.destroy(),
}

const failing: readonly ServerCase[] = [
  ...Object.entries(failures).map(([id, { kind = 'mutating', answer, message }]): ServerCase => ({
    id: `server/webhooks/failed-${id}`,
    rule: `An invalid response (${id.replaceAll('-', ' ')}) is a failed call.`,
    needs,
    run: (place) =>
      withWebhooks(place, { [kind]: { a: { w: {} } }, answers: { w: () => answer } }, async () => {
        const { message: text } = expectStatus(await place.post('configmaps', configMap('a')), {
          code: 500,
          reason: 'InternalError',
          message,
        })
        assert.match(String(text), /^Internal error occurred: failed calling webhook "w\.judge\.example\.com": /)
      }),
  })),
  ...Object.entries(raw).map(([id, answer]): ServerCase => ({
    id: `server/webhooks/failed-${id}`,
    rule: `A webhook that fails (${id.replaceAll('-', ' ')}) rejects the write, or is skipped when its failures are ignored.`,
    needs,
    run: (place) =>
      withWebhooks(
        place,
        {
          validating: {
            a: {
              v: { objectSelector: { matchLabels: { v: 'fail' } } },
              i: { objectSelector: { matchLabels: { v: 'ignore' } }, failurePolicy: 'Ignore' },
            },
          },
          answers: Object.fromEntries(
            ['v', 'i'].map((name) => [
              name,
              (_: unknown, response: ServerResponse) => {
                answer(response)
                return undefined
              },
            ]),
          ),
        },
        async (taken) => {
          expectStatus(await place.post('configmaps', configMap('a', { metadata: { labels: { v: 'fail' } } })), {
            code: 500,
            reason: 'InternalError',
            message: /^Internal error occurred: failed calling webhook "v\.judge\.example\.com": /,
          })
          ok(await place.post('configmaps', configMap('a', { metadata: { labels: { v: 'ignore' } } })), 201)
          assert.deepEqual([...new Set(names(taken()))], ['v', 'i'])
        },
      ),
  })),
  {
    id: 'server/webhooks/timeout',
    rule: 'A webhook that exceeds its timeout has failed.',
    needs,
    run: (place) =>
      withWebhooks(
        place,
        { validating: { a: { v: { timeoutSeconds: 1 } } }, answers: { v: () => undefined } },
        async (taken) => {
          expectStatus(await place.post('configmaps', configMap('a')), {
            code: 500,
            reason: 'InternalError',
            message:
              /^Internal error occurred: failed calling webhook "v\.judge\.example\.com": failed to call webhook: Post "https:\/\/127\.0\.0\.1:\d+\/v\?timeout=1s": (?:context deadline exceeded|net\/http: request canceled)/,
          })
          assert.equal(taken()[0]?.target, '/v?timeout=1s')
        },
      ),
  },
  {
    id: 'server/webhooks/remaining-time',
    rule: 'The timeout of a webhook call is the remaining time of the request, in whole seconds, if that is shorter than the timeout of the webhook.',
    needs,
    run: (place) =>
      withWebhooks(
        place,
        { validating: { a: { v: { timeoutSeconds: 20 } } }, answers: { v: () => ({ allowed: true }) } },
        async (taken) => {
          ok(await place.post('configmaps', configMap('a'), { query: { timeout: '10s' } }), 201)
          ok(await place.post('configmaps', configMap('b')), 201)
          assert.deepEqual(
            taken().map(({ target }) => target),
            ['/v?timeout=10s', '/v?timeout=20s'],
          )
        },
      ),
  },
  {
    id: 'server/webhooks/unreachable',
    rule: 'An unreachable webhook rejects the write, or is skipped when its failures are ignored.',
    needs,
    run: (place) =>
      withWebhooks(
        place,
        {
          validating: {
            a: {
              v: { clientConfig: { url: 'https://127.0.0.1:1/x' }, objectSelector: { matchLabels: { v: 'fail' } } },
              i: { clientConfig: { url: 'https://127.0.0.1:1/x' }, failurePolicy: 'Ignore' },
            },
          },
        },
        async () => {
          expectStatus(await place.post('configmaps', configMap('a', { metadata: { labels: { v: 'fail' } } })), {
            code: 500,
            reason: 'InternalError',
            message:
              'Internal error occurred: failed calling webhook "v.judge.example.com": failed to call webhook: Post "https://127.0.0.1:1/x?timeout=10s": dial tcp 127.0.0.1:1: connect: connection refused',
          })
          ok(await place.post('configmaps', configMap('a')), 201)
        },
      ),
  },
]

const counting: readonly ServerCase[] = [
  {
    id: 'server/webhooks/metrics',
    rule: '`/metrics` reports for each webhook the duration, the denials, the failures and the writes that continued despite a failure.',
    needs,
    run: (place) =>
      withWebhooks(
        place,
        {
          validating: {
            a: {
              'counted-no': { objectSelector: { matchLabels: { v: 'no' } } },
              'counted-gone': {
                clientConfig: { url: 'https://127.0.0.1:1/x' },
                failurePolicy: 'Ignore',
                objectSelector: { matchLabels: { v: 'gone' } },
              },
            },
          },
          mutating: { b: { 'counted-yes': { objectSelector: { matchLabels: { v: 'gone' } } } } },
          answers: { 'counted-no': () => ({ allowed: false, status: { code: 418, message: 'no' } }) },
        },
        async () => {
          expectStatus(await place.post('configmaps', configMap('a', { metadata: { labels: { v: 'no' } } })), {
            code: 418,
          })
          ok(await place.post('configmaps', configMap('a', { metadata: { labels: { v: 'gone' } } })), 201)
          const { text } = await place.client.request('GET', '/metrics')
          const about = (name: string): string => `name="${name}.judge.example.com"`
          assert.match(
            text,
            new RegExp(
              `^apiserver_admission_webhook_rejection_count\\{error_type="no_error",${about('counted-no')},operation="CREATE",rejection_code="418",type="validating"\\} [1-9]`,
              'm',
            ),
          )
          assert.match(
            text,
            new RegExp(
              `^apiserver_admission_webhook_fail_open_count\\{${about('counted-gone')},type="validating"\\} [1-9]`,
              'm',
            ),
          )
          assert.match(
            text,
            new RegExp(
              `^apiserver_admission_webhook_request_total\\{code="200",${about('counted-yes')},operation="CREATE",rejected="false",type="admit"\\} [1-9]`,
              'm',
            ),
          )
          assert.match(
            text,
            new RegExp(
              `^apiserver_admission_webhook_admission_duration_seconds_bucket\\{${about('counted-no')},operation="CREATE",rejected="true",type="validating",le="2.5"\\} [1-9]`,
              'm',
            ),
          )
        },
      ),
  },
]

export const webhookAnswerCases: readonly ServerCase[] = [...changing, ...refusing, ...failing, ...counting]
