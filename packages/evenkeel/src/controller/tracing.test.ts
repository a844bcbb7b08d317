import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { staleVersion } from '#api'
import { TerminalError } from './errors.ts'
import { findTracing, silentTracing } from './tracing.ts'
import { Widget, World } from './world.fixture.ts'

/** As much of the package as is used, writing down what is asked of it. */
function fakeOpenTelemetry(): {
  api: unknown
  spans: { name: string; attributes: object; links: unknown[]; events: string[] }[]
} {
  const spans: { name: string; attributes: object; links: unknown[]; events: string[] }[] = []
  const startActiveSpan = (
    name: string,
    { attributes, links }: { attributes: object; links: unknown[] },
    work: (span: object) => unknown,
  ): unknown => {
    const span = { name, attributes, links, events: [] as string[] }
    const id = `span-${spans.push(span)}`
    return work({
      spanContext: () => id,
      setAttribute: () => undefined,
      recordException: (error: Error) => span.events.push(`exception ${error.message}`),
      setStatus: ({ code }: { code: number }) => span.events.push(`status ${code}`),
      end: () => span.events.push('end'),
    })
  }
  return { spans, api: { trace: { getTracer: () => ({ startActiveSpan }) } } }
}

test('findTracing makes a span of every reconcile, linked to those that caused it, ended also when it fails', async () => {
  const { api, spans } = fakeOpenTelemetry()
  const world = new World({ tracing: findTracing({ load: () => api }) })
  let runs = 0
  await world.start({
    for: Widget,
    reconcile: (_, { status }) => {
      status.set({ phase: 'Ready' })
      if (++runs === 2) throw new Error('no')
    },
  })
  world.api.put(Widget, 'one', { spec: {} })
  await world.clock.advance(100)
  expect(spans).toHaveLength(3)
  expect(spans[0]).toMatchObject({
    name: 'reconcile widget',
    attributes: {
      'evenkeel.controller': 'widget',
      'evenkeel.object': 'default/test.dev/Widget/a/one',
      'evenkeel.attempt': 0,
    },
    links: [],
    events: ['end'],
  })
  expect(spans[1]).toMatchObject({ links: [{ context: 'span-1' }], events: ['exception no', 'status 2', 'end'] })
  expect(spans[2]).toMatchObject({ attributes: { 'evenkeel.attempt': 1 }, links: [], events: ['end'] })
  await world.stop()
})

test('findTracing: a terminal error fails its span, a conflict does not', async () => {
  const { api, spans } = fakeOpenTelemetry()
  const world = new World({ tracing: findTracing({ load: () => api }) })
  await world.start({
    for: Widget,
    reconcile: ({ metadata: { name } }) => {
      throw name === 'one'
        ? new TerminalError('never')
        : staleVersion({ group: 'test.dev', kind: 'widgets', name: 'two' })
    },
  })
  world.api.put(Widget, 'one', { spec: {} })
  world.api.put(Widget, 'two', { spec: {} })
  await world.clock.advance(0)
  expect(spans.map(({ events }) => events)).toEqual([['exception never', 'status 2', 'end'], ['end']])
  await world.stop()
})

test.each<[string, () => unknown]>([
  [
    'is not there',
    () => {
      throw new Error('Cannot find module')
    },
  ],
  ['is something else', () => ({})],
  ['is nothing', () => undefined],
])('findTracing makes no spans when the package %s', (_, load) => {
  expect(findTracing({ load })).toBe(silentTracing)
})

test('findTracing: a tracer that throws does not keep the work from being done', async () => {
  const tracing = findTracing({
    load: () => ({
      trace: {
        getTracer: () => ({
          startActiveSpan: () => {
            throw new Error('no')
          },
        }),
      },
    }),
  })
  expect(await tracing.run({ name: 'x', attributes: {}, links: [] }, () => Promise.resolve(5))).toBe(5)
})

test('findTracing looks for the package by itself and does without it', async () => {
  expect(await findTracing().run({ name: 'x', attributes: {}, links: [] }, () => Promise.resolve(5))).toBe(5)
})

test('findTracing finds the package next to the program where this package does not see it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'evenkeel-tracing-'))
  const place = join(folder, 'node_modules', '@opentelemetry', 'api')
  mkdirSync(place, { recursive: true })
  const names = `globalThis[Symbol.for('evenkeel test tracers')]`
  Object.assign(globalThis, { [Symbol.for('evenkeel test tracers')]: undefined })
  writeFileSync(join(place, 'package.json'), JSON.stringify({ name: '@opentelemetry/api', main: 'index.js' }))
  writeFileSync(
    join(place, 'index.js'),
    `exports.trace = { getTracer: (name) => { (${names} ??= []).push(name); return { startActiveSpan: () => { throw new Error('no') } } } }`,
  )
  const [program] = process.argv.splice(1, 1, join(folder, 'program.js'))
  try {
    expect(findTracing()).not.toBe(silentTracing)
    expect((globalThis as Record<symbol, unknown>)[Symbol.for('evenkeel test tracers')]).toEqual(['evenkeel'])
  } finally {
    process.argv.splice(1, 1, ...(program === undefined ? [] : [program]))
    rmSync(folder, { recursive: true })
  }
})
