import { expect, test } from 'vitest'
import { Answer } from './answer.ts'
import { renderReport } from './case-report.ts'
import { expectMatch, expectStatus, ok, warningsOf } from './expect.ts'
import { runCases } from './runner.ts'
import type { ServerCase, ServerTarget } from './target.ts'

/** A server that accepts every namespace and every deletion, and records the requests. */
function obliging(): { target: ServerTarget; asked: string[] } {
  const asked: string[] = []
  const target: ServerTarget = {
    name: 'obliging',
    lacks: { compaction: 'it never forgets' },
    credentials: {},
    send: ({ method, target: path, body }) => {
      asked.push(`${method} ${path}`)
      const text = method === 'POST' ? Buffer.from(body ?? []).toString() : '{}'
      return Promise.resolve({
        status: method === 'POST' ? 201 : 200,
        headers: {},
        body: (async function* () {
          yield await Promise.resolve(Buffer.from(text))
        })(),
      })
    },
  }
  return { target, asked }
}

const cases: readonly ServerCase[] = [
  { id: 'server/create/good', rule: 'Good.', run: () => Promise.resolve() },
  { id: 'server/create/bad', rule: 'Bad.', run: () => Promise.reject(new Error('no *luck*\nmore')) },
  { id: 'server/get/old', rule: 'Old.', needs: ['compaction'], run: () => Promise.resolve() },
]

test('runCases returns the result of each case, in order, with the reason', async () => {
  const results = await runCases(cases, obliging().target, { concurrency: 2 })
  expect(results.map(({ id, outcome, reason }) => ({ id, outcome, reason }))).toEqual([
    { id: 'server/create/good', outcome: 'passed', reason: undefined },
    { id: 'server/create/bad', outcome: 'failed', reason: 'no *luck*\nmore' },
    { id: 'server/get/old', outcome: 'skipped', reason: 'it never forgets' },
  ])
})

test('runCases gives every case its own namespace and deletes it, even when the case fails', async () => {
  const { target, asked } = obliging()
  await runCases(cases, target)
  expect(asked.filter((line) => line === 'POST /api/v1/namespaces')).toHaveLength(2)
  const deleted = asked.filter((line) => line.startsWith('DELETE /api/v1/namespaces/judge-'))
  expect(new Set(deleted).size).toBe(2)
})

test('runCases runs cases that compact last and alone', async () => {
  const { target } = obliging()
  let running = 0
  const seen: [string, number][] = []
  const one = (id: string, needs: ServerCase['needs'] = []): ServerCase => ({
    id,
    rule: 'R.',
    needs,
    run: async () => {
      seen.push([id, ++running])
      await Promise.resolve()
      running--
    },
  })
  await runCases(
    [one('forget-1', ['compaction']), one('a'), one('b'), one('forget-2', ['compaction'])],
    { ...target, lacks: {} },
    { concurrency: 4 },
  )
  expect(seen.slice(2)).toEqual([
    ['forget-1', 1],
    ['forget-2', 1],
  ])
})

test('renderReport counts by topic, lists skipped and failed cases with the reason, and folds the rules', async () => {
  const text = renderReport([{ server: 'obliging', results: await runCases(cases, obliging().target) }])
  expect(text).toMatch(/^<!-- Generated/)
  expect(text).toContain('| Create, update, patch | 1 | 1 | 0 |\n')
  expect(text).toContain('| Get, list, watch, tables | 0 | 0 | 1 |\n')
  expect(text).toContain('| **all** | 1 | 1 | 1 |\n')
  expect(text).toMatch(/<details>\n<summary>Get, list, watch, tables: 1 cases<\/summary>\n\n### get\n\n- Old\./)
  expect(text).toContain('- `server/create/bad`: Bad. *no \\*luck\\**')
  expect(text).toContain('- `server/get/old`: Old. *it never forgets*')
  const unknown = [{ id: 'server/new/one', rule: 'New.', tookMs: 0, outcome: 'passed' as const }]
  expect(() => renderReport([{ server: 'obliging', results: unknown }])).toThrow('add these areas to a topic')
})

test('expectMatch compares parts of objects, whole lists, patterns and absence', () => {
  const actual = { a: 1, list: [{ x: 1, y: 2 }], text: 'abc' }
  expectMatch(actual, { list: [{ x: 1 }], text: /b/, none: undefined, a: (value: number) => value > 0 })
  expect(() => {
    expectMatch(actual, { list: [] })
  }).toThrow(/list/)
  expect(() => {
    expectMatch(actual, { list: [{ x: 2 }] })
  }).toThrow('list.0.x: expected 2, got 1')
  expect(() => {
    expectMatch(actual, { a: undefined })
  }).toThrow('a: expected nothing, got 1')
  expect(() => {
    expectMatch({}, { toString: () => true, constructor: { name: 'Object' } })
  }).toThrow(/constructor/)
})

test('ok, expectStatus and warningsOf read a response', () => {
  const body = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', code: 404, reason: 'NotFound' }
  const answer = (status: number): Answer =>
    new Answer('GET /x', {
      status,
      headers: { 'content-type': 'application/json', warning: '299 - "a \\"b\\"", 299 - "c"' },
      bytes: Buffer.from(JSON.stringify(body)),
    })
  expectStatus(answer(404), { code: 404, reason: 'NotFound' })
  expect(() => expectStatus(answer(404), { code: 404, reason: 'Gone' })).toThrow(/reason/)
  expect(() => ok(answer(404))).toThrow(/expected success: GET \/x → 404/)
  expect(ok(answer(200), 200).kind).toBe('Status')
  expect(warningsOf(answer(200))).toEqual(['a "b"', 'c'])
})
