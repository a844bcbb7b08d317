import { getEventListeners } from 'node:events'
import { describe, expect, test } from 'vitest'
import { createLogger, Metrics, SimulatedClock } from '#base'
import type { KubeObject } from '#api'
import { record } from './event-server.fixture.ts'

const site = (resourceVersion: string, more: object = {}): KubeObject => ({
  apiVersion: 'demo.example.com/v1',
  kind: 'Website',
  metadata: { name: 'web', namespace: 'shop', uid: 'u1', resourceVersion, ...more },
})
const failed = { type: 'Warning', reason: 'Failed', action: 'Deploying' } as const

describe('EventRecorder', () => {
  test('creates an event of events.k8s.io/v1 with everything that the server asks for', async () => {
    const { clock, server, recorder, stop } = record()
    recorder.event(site('1'), {
      ...failed,
      note: 'no image',
      related: { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n', uid: 'u2' } },
    })
    await clock.advance(0)
    expect(server.all).toEqual([
      {
        apiVersion: 'events.k8s.io/v1',
        kind: 'Event',
        metadata: { name: expect.stringMatching(/^web\.[0-9a-f]{16}$/), namespace: 'shop' },
        type: 'Warning',
        reason: 'Failed',
        action: 'Deploying',
        note: 'no image',
        eventTime: '2026-01-01T00:00:00.000000Z',
        regarding: {
          apiVersion: 'demo.example.com/v1',
          kind: 'Website',
          namespace: 'shop',
          name: 'web',
          uid: 'u1',
          resourceVersion: '1',
        },
        related: { apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'u2' },
        reportingController: 'tester',
        reportingInstance: expect.stringMatching(/^tester-/),
      },
    ])
    await stop()
    expect(clock.pending).toBe(0)
  })

  test('names an event after its object and the millisecond in which it happened', async () => {
    // As many nanoseconds as a millisecond has: the random part must stay below.
    const { clock, server, recorder, stop } = record({ random: { uint32: () => 1_000_000 } })
    recorder.event(site('1'), { ...failed, note: 'no image' })
    await clock.advance(0)
    const [, nanoseconds = ''] = (server.all[0] as unknown as KubeObject).metadata.name?.split('.') ?? []
    expect(BigInt(`0x${nanoseconds}`) / 1_000_000n).toBe(BigInt(clock.now()))
    await stop()
  })

  test('case 121: the same event twice, with the object changed in between, is one event with count 2 and the newer note', async () => {
    const { clock, server, recorder, stop } = record()
    recorder.event(site('1'), { ...failed, note: 'no image' })
    await clock.advance(5000)
    recorder.event(site('2'), { ...failed, note: 'still no image' })
    await clock.advance(0)
    expect(server.all).toHaveLength(1)
    expect(server.all[0]).toMatchObject({
      note: 'still no image',
      series: { count: 2, lastObservedTime: '2026-01-01T00:00:05.000000Z' },
    })
    expect(server.calls).toEqual(['POST events.k8s.io', 'PATCH core'])
    await stop()
  })

  test('case 121: twice in one turn is also one event with count 2', async () => {
    const { clock, server, recorder, stop } = record()
    recorder.event(site('1'), { ...failed, note: 'a' })
    recorder.event(site('2'), { ...failed, note: 'b' })
    await clock.advance(0)
    expect(server.all).toMatchObject([{ note: 'b', series: { count: 2 } }])
    await stop()
  })

  test('case 121: what happens while the event is being created is written afterwards', async () => {
    const { clock, server, recorder, stop } = record()
    server.refuse = (call) => {
      if (call.startsWith('POST')) recorder.event(site('2'), { ...failed, note: 'b' })
      return undefined
    }
    recorder.event(site('1'), { ...failed, note: 'a' })
    await clock.advance(0)
    expect(server.all).toMatchObject([{ note: 'b', series: { count: 2 } }])
    await stop()
  })

  test('keeps the note but counts on when it may not change events in their older form', async () => {
    const { clock, server, recorder, stop } = record()
    server.refuse = (call) => (call === 'PATCH core' ? 403 : undefined)
    for (const note of ['a', 'b', 'c']) {
      recorder.event(site('1'), { ...failed, note })
      await clock.advance(0)
    }
    expect(server.all).toMatchObject([{ note: 'a', series: { count: 3 } }])
    expect(server.calls).toEqual(['POST events.k8s.io', 'PATCH core', 'PATCH events.k8s.io', 'PATCH events.k8s.io'])
    await stop()
  })

  test('counts what happens again and again in memory, and writes the sum when it has gone quiet', async () => {
    const { clock, server, recorder, stop } = record()
    for (let times = 0; times < 100; times++) {
      recorder.event(site('1'), { ...failed, note: 'no image' })
      await clock.advance(10)
    }
    expect(server.calls).toEqual(['POST events.k8s.io', 'PATCH events.k8s.io'])
    expect(server.all).toMatchObject([{ series: { count: 2 } }])
    await clock.advance(720_000)
    expect(server.all).toMatchObject([{ series: { count: 100 } }])
    recorder.event(site('1'), { ...failed, note: 'no image' })
    await clock.advance(0)
    expect(server.all).toHaveLength(2)
    await stop()
  })

  test('case 122: an event about an object without a namespace is stored in default', async () => {
    const { clock, server, recorder, stop } = record()
    recorder.event(
      { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1', uid: 'u' } },
      { reason: 'Seen', note: 'hello' },
    )
    await clock.advance(0)
    expect(server.all).toMatchObject([
      { metadata: { namespace: 'default' }, regarding: { kind: 'Node', name: 'n1' }, action: 'Seen', type: 'Normal' },
    ])
    await stop()
  })

  test('writes the older form when told to', async () => {
    const { clock, server, recorder, stop } = record({ api: 'v1' })
    recorder.event(site('1'), { ...failed, note: 'a' })
    await clock.advance(3000)
    recorder.event(site('2'), { ...failed, note: 'b' })
    await clock.advance(0)
    expect(server.all).toMatchObject([
      {
        apiVersion: 'v1',
        involvedObject: { name: 'web' },
        message: 'b',
        count: 2,
        firstTimestamp: '2026-01-01T00:00:00Z',
        lastTimestamp: '2026-01-01T00:00:03Z',
        source: { component: 'tester' },
        reportingComponent: 'tester',
      },
    ])
    expect(server.calls).toEqual(['POST core', 'PATCH core'])
    await stop()
  })

  test('makes an event again that the server has forgotten', async () => {
    const { clock, server, recorder, stop } = record()
    recorder.event(site('1'), { ...failed, note: 'a' })
    await clock.advance(0)
    server.events.clear()
    recorder.event(site('1'), { ...failed, note: 'a' })
    await clock.advance(0)
    expect(server.all).toMatchObject([{ note: 'a', series: { count: 2 } }])
    await stop()
  })

  test('tries twelve times, about ten seconds apart, when nobody answers, and once when the server rejects', async () => {
    const { clock, server, recorder, stop } = record()
    server.refuse = () => -1
    recorder.event(site('1'), { ...failed, note: 'a' })
    await clock.advance(110_000 * 1.25)
    expect(server.calls).toHaveLength(12)
    await clock.advance(60_000)
    expect(server.calls).toHaveLength(12)
    server.refuse = () => 422
    recorder.event(site('1'), { ...failed, note: 'a' })
    await clock.advance(60_000)
    expect(server.calls).toHaveLength(13)
    await stop()
  })

  test('holds no more than its queue, drops the rest and counts what it dropped', async () => {
    const metrics = new Metrics()
    const { clock, server, recorder, stop } = record({ metrics })
    server.refuse = () => -1
    for (let index = 0; index < 1005; index++)
      recorder.event(site('1', { name: `web${index}`, uid: `u${index}` }), { ...failed, note: 'a' })
    expect(metrics.render()).toContain('evenkeel_events_dropped_total 5')
    server.refuse = () => undefined
    await clock.advance(20_000)
    expect(server.all).toHaveLength(1000)
    await stop()
  })

  test('writes about one object in a burst of 25, then once in five minutes', async () => {
    const { clock, server, recorder, stop } = record()
    for (let index = 0; index < 40; index++) recorder.event(site('1'), { reason: `Reason${index}`, note: 'a' })
    await clock.advance(0)
    expect(server.all).toHaveLength(25)
    await clock.advance(300_000)
    for (const reason of ['Late', 'Later']) recorder.event(site('1'), { reason, note: 'a' })
    await clock.advance(0)
    expect(server.all).toHaveLength(26)
    await stop()
  })

  test('cuts texts to what the server takes, and finds a name when that of the object cannot be one', async () => {
    const { clock, server, recorder, stop } = record()
    recorder.event(site('1', { name: 'Upper_Case' }), { reason: 'r'.repeat(200), note: 'ü'.repeat(1000) })
    await clock.advance(0)
    const [event] = server.all
    expect(event).toMatchObject({
      reason: 'r'.repeat(128),
      action: 'r'.repeat(128),
      note: 'ü'.repeat(512),
      metadata: { name: expect.stringMatching(/^event\.[0-9a-f]+$/) },
    })
    await stop()
  })

  test('writes what is waiting when it is stopped, and gives up after a moment', async () => {
    const { server, recorder, stop } = record()
    for (const reason of ['A', 'B', 'C']) recorder.event(site('1'), { reason, note: 'a' })
    await stop()
    expect(server.all).toHaveLength(3)
  })

  test('tells transitions of conditions once, and which of them are bad', async () => {
    const { clock, server, recorder, stop } = record()
    const condition = (type: string, status: 'True' | 'False' | 'Unknown', reason: string) => ({
      type,
      status,
      reason,
      message: '',
      lastTransitionTime: '',
    })
    const after = [
      condition('Ready', 'False', 'NoImage'),
      condition('Degraded', 'True', 'Slow'),
      condition('Same', 'True', 'AsBefore'),
    ]
    recorder.transitions(site('1'), { before: [condition('Same', 'True', 'AsBefore')], after, negative: ['Degraded'] })
    recorder.transitions(site('1'), { before: after, after })
    await clock.advance(0)
    expect(server.all.map(({ type, reason, action, note }) => [type, reason, action, note])).toEqual([
      ['Warning', 'NoImage', 'Ready', 'Ready is False'],
      ['Warning', 'Slow', 'Degraded', 'Degraded is True'],
    ])
    await stop()
  })

  test('a condition with another reason is a transition, also when its status stays', async () => {
    const { clock, server, recorder, stop } = record()
    const condition = (reason: string) => ({
      type: 'Ready',
      status: 'False' as const,
      reason,
      message: '',
      lastTransitionTime: '',
    })
    recorder.transitions(site('1'), { before: [condition('NoImage')], after: [condition('NoNode')] })
    await clock.advance(0)
    expect(server.all.map(({ reason }) => reason)).toEqual(['NoNode'])
    await stop()
  })

  test('a series goes on while its events are less than six minutes apart, and then begins again', async () => {
    const { clock, server, recorder, stop } = record()
    const minutes = async (count: number): Promise<void> => {
      await clock.advance(count * 60_000)
      recorder.event(site('1'), { ...failed, note: 'no image' })
      await clock.advance(0)
    }
    await minutes(0)
    await minutes(5)
    await minutes(2)
    expect(server.all).toHaveLength(1)
    await minutes(20)
    expect(server.all).toHaveLength(2)
    await stop()
  })

  test('a series has ended at the first check that finds no event in the last six minutes', async () => {
    const { clock, server, recorder, stop } = record()
    recorder.event(site('1'), { ...failed, note: 'no image' })
    // The check is every six minutes as well, so the series is exactly that old.
    await clock.advance(360_000)
    recorder.event(site('1'), { ...failed, note: 'no image' })
    await clock.advance(0)
    expect(server.all).toHaveLength(2)
    await stop()
  })

  test('waits for events without leaving listeners on the signal', async () => {
    const { clock, recorder, signal, stop } = record()
    await clock.advance(0)
    const before = getEventListeners(signal, 'abort').length
    for (const reason of ['A', 'B', 'C']) {
      recorder.event(site('1'), { reason, note: 'a' })
      await clock.advance(0)
    }
    expect(getEventListeners(signal, 'abort')).toHaveLength(before)
    await stop()
  })

  test('keeps 4096 series', async () => {
    const { clock, server, recorder, stop } = record({ queueMax: 10_000 })
    const about = (index: number): KubeObject => site('1', { name: `web-${index}`, uid: `u${index}` })
    for (let index = 0; index < 4096; index++) recorder.event(about(index), { ...failed, note: 'no image' })
    await clock.advance(0)
    recorder.event(about(0), { ...failed, note: 'no image' })
    await clock.advance(0)
    expect([server.all.length, server.calls.at(-1)]).toEqual([4096, 'PATCH events.k8s.io'])
    recorder.event(about(4096), { ...failed, note: 'no image' })
    await clock.advance(0)
    recorder.event(about(0), { ...failed, note: 'no image' })
    await clock.advance(0)
    expect(server.all).toHaveLength(4098)
    await stop()
  })

  test('logs an event that the server rejects, with its reason and object', async () => {
    const lines: unknown[] = []
    const { clock, server, recorder, stop } = record({
      log: createLogger({
        clock: new SimulatedClock(),
        sink: ({ level, message, fields }) => {
          lines.push([level, message, fields['reason'], fields['object']])
        },
      }),
    })
    server.refuse = () => 422
    recorder.event(site('1'), { ...failed, note: 'no image' })
    await clock.advance(0)
    expect(lines).toEqual([['warn', 'cannot write event', 'Failed', 'web']])
    await stop()
  })

  test('cuts a note to 1024 bytes, at the boundary of a character', async () => {
    const { clock, server, recorder, stop } = record()
    recorder.event(site('1'), { ...failed, note: `${'x'.repeat(1023)}é and more` })
    recorder.event(site('1'), { ...failed, reason: 'R'.repeat(129), note: 'x'.repeat(1024) })
    await clock.advance(0)
    expect(server.all.map(({ note, reason }) => [String(note).length, String(reason).length])).toEqual([
      [1023, 6],
      [1024, 128],
    ])
    expect(server.all[0]?.['note']).toBe('x'.repeat(1023))
    await stop()
  })
})
