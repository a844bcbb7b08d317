import { describe, expect, test } from 'vitest'
import { Metrics } from './metrics.ts'

describe('Metrics', () => {
  test('shows counters, gauges and histograms as Prometheus reads them', () => {
    const metrics = new Metrics()
    const requests = metrics.counter('requests_total', { help: 'Requests.', labels: ['code', 'verb'] })
    requests.with({ code: '200', verb: 'GET' }).add()
    requests.with({ verb: 'GET', code: '200' }).add(2)
    metrics.gauge('depth', { help: 'Depth.' }).with().set(-1.5)
    const seconds = metrics
      .histogram('wait_seconds', { help: 'Waits.', labels: ['name'], buckets: [1e-5, 0.5, 10] })
      .with({ name: 'a' })
    for (const value of [1e-6, 1e-5, 0.5, 0.6, 11]) seconds.observe(value)
    expect(
      metrics
        .render()
        .split('\n')
        .filter((line) => !line.includes('evenkeel_metrics')),
    ).toEqual([
      '# HELP depth Depth.',
      '# TYPE depth gauge',
      'depth -1.5',
      '# HELP requests_total Requests.',
      '# TYPE requests_total counter',
      'requests_total{code="200",verb="GET"} 3',
      '# HELP wait_seconds Waits.',
      '# TYPE wait_seconds histogram',
      'wait_seconds_bucket{name="a",le="1e-05"} 2',
      'wait_seconds_bucket{name="a",le="0.5"} 3',
      'wait_seconds_bucket{name="a",le="10"} 4',
      'wait_seconds_bucket{name="a",le="+Inf"} 5',
      'wait_seconds_sum{name="a"} 12.100011',
      'wait_seconds_count{name="a"} 5',
      '',
    ])
  })

  test('escapes quotes, backslashes and line breaks', () => {
    const metrics = new Metrics()
    metrics
      .gauge('a', { help: 'one\ntwo \\ three', labels: ['text'] })
      .with({ text: 'say "hi"\n\\' })
      .set(Infinity)
    expect(metrics.render()).toContain('# HELP a one\\ntwo \\\\ three\n')
    expect(metrics.render()).toContain('a{text="say \\"hi\\"\\n\\\\"} +Inf\n')
  })

  test('returns the same series for the same name, and refuses another type or labels', () => {
    const metrics = new Metrics()
    const first = metrics.counter('a_total', { help: 'A.', labels: ['x'] })
    expect(metrics.counter('a_total', { help: 'A.', labels: ['x'] }).with({ x: '1' })).toBe(first.with({ x: '1' }))
    expect(() => metrics.gauge('a_total', { help: 'A.', labels: ['x'] })).toThrow(RangeError)
    expect(() => metrics.counter('a_total', { help: 'A.', labels: ['y'] })).toThrow(
      'metric a_total is already registered as a counter with the labels (x)',
    )
    expect(() => first.with({ y: '1' })).toThrow('missing value for label x')
    expect(() => first.with()).toThrow(RangeError)
  })

  test.each(['', '1a', 'a b', 'a-b'])('refuses the name %j', (name) => {
    expect(() => new Metrics().counter(name, { help: '' })).toThrow(RangeError)
    expect(() => new Metrics().counter('a', { help: '', labels: [name] })).toThrow(RangeError)
  })

  test('refuses buckets that do not grow', () => {
    for (const buckets of [[1, 1], [2, 1], [1, Infinity], [NaN]])
      expect(() => new Metrics().histogram('a', { help: '', buckets })).toThrow(RangeError)
  })

  test('takes any text for a label value', () => {
    const metrics = new Metrics()
    const family = metrics.counter('a_total', { help: 'A.', labels: ['constructor'] })
    for (const value of ['__proto__', 'constructor', '', '__proto__']) family.with({ constructor: value }).add()
    expect(metrics.render()).toContain('a_total{constructor="__proto__"} 2\n')
    expect(() => family.with({ x: '' })).toThrow(RangeError)
  })

  test('limits the number of series, and counts the dropped ones', () => {
    const metrics = new Metrics()
    const family = metrics.counter('a_total', { help: 'A.', labels: ['x'], seriesMax: 2 })
    for (let index = 0; index < 5; index++) family.with({ x: String(index) }).add()
    expect(metrics.render().match(/^a_total/gm)).toHaveLength(2)
    expect(metrics.render()).toContain('evenkeel_metrics_series_dropped 3\n')
    family.delete({ x: '0' })
    family.with({ x: '9' }).add()
    expect(metrics.render()).toContain('a_total{x="9"} 1')
  })
})

test('Gauge.follow reads on render until cancelled; a later one stays', () => {
  const metrics = new Metrics()
  const gauge = metrics.gauge('a', { help: 'A.' }).with()
  let value = 1
  const cancelFirst = gauge.follow(() => value)
  value = 2
  expect(metrics.render()).toContain('\na 2\n')
  const cancelSecond = gauge.follow(() => 7)
  cancelFirst()
  expect(metrics.render()).toContain('\na 7\n')
  cancelSecond()
  expect(metrics.render()).toContain('\na 0\n')
})

test('Metrics.labelled separates the series of several instances', () => {
  const metrics = new Metrics()
  for (const [index, cluster] of ['east', 'west'].entries()) {
    const one = metrics.labelled({ cluster })
    one
      .counter('a_total', { help: 'A.', labels: ['x'] })
      .with({ x: '1' })
      .add(index + 1)
    one
      .gauge('b', { help: 'B.' })
      .with()
      .follow(() => index)
    one
      .histogram('c', { help: 'C.', buckets: [1] })
      .with()
      .observe(index)
    expect(one.render()).toBe(metrics.render())
  }
  expect(
    metrics
      .render()
      .split('\n')
      .filter((line) => /^(?:a|b|c_sum)/.test(line)),
  ).toEqual([
    'a_total{cluster="east",x="1"} 1',
    'a_total{cluster="west",x="1"} 2',
    'b{cluster="east"} 0',
    'b{cluster="west"} 1',
    'c_sum{cluster="east"} 0',
    'c_sum{cluster="west"} 1',
  ])
  metrics.labelled({ cluster: 'east' }).gauge('b', { help: 'B.' }).delete({})
  expect(metrics.render()).not.toContain('b{cluster="east"}')
})
