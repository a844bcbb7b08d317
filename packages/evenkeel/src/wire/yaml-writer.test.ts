import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { parseJson, type JsonValue } from '#api'
import { readYaml } from './yaml-reader.ts'
import { writeYaml } from './yaml-writer.ts'

describe('writeYaml', () => {
  test('writes an object as people know it', () => {
    const pod = {
      kind: 'Pod',
      apiVersion: 'v1',
      metadata: {
        name: 'x',
        labels: {},
        annotations: { note: 'one\ntwo\n' },
        creationTimestamp: '2026-01-01T00:00:00Z',
      },
      spec: {
        hostNetwork: true,
        volumes: [],
        containers: [
          {
            name: 'a',
            image: 'nginx:1.27-alpine',
            args: ['--x=1', 'yes'],
            ports: [{ containerPort: 80 }],
            resources: { limits: { memory: '64Mi' } },
          },
        ],
      },
    }
    expect(writeYaml(pod)).toBe(`apiVersion: v1
kind: Pod
metadata:
  annotations:
    note: |
      one
      two
  creationTimestamp: "2026-01-01T00:00:00Z"
  labels: {}
  name: x
spec:
  containers:
  - args:
    - "--x=1"
    - "yes"
    image: nginx:1.27-alpine
    name: a
    ports:
    - containerPort: 80
    resources:
      limits:
        memory: 64Mi
  hostNetwork: true
  volumes: []
`)
  })

  test.each<[JsonValue, string]>([
    [null, 'null\n'],
    [[], '[]\n'],
    [{}, '{}\n'],
    ['a', 'a\n'],
    [1, '1\n'],
    [[1, [2, [3]], { a: 1, b: [] }], '- 1\n- - 2\n  - - 3\n- a: 1\n  b: []\n'],
    [{ b: 1, a: { y: null } }, 'a:\n  "y": null\nb: 1\n'],
    [['x\ny'], '- |-\n  x\n  y\n'],
  ])('writes %j', (value, text) => {
    expect(writeYaml(value)).toBe(text)
  })

  test.each([
    'yes',
    'No',
    'y',
    'on',
    'null',
    '~',
    '',
    'true',
    '1',
    '-1',
    '1e3',
    '0x1f',
    '010',
    '0o7',
    '.5',
    '.inf',
    '.nan',
    '1_000',
    '1:30',
    '2026-01-01',
    '2026-01-01T00:00:00Z',
    '=',
    '<<',
    '-',
    '- a',
    '?',
    '? a',
    ':',
    'a:',
    'a: b',
    'a #b',
    '#a',
    '&a',
    '*a',
    '!a',
    '|',
    '>',
    '%a',
    '@a',
    '`a',
    '{',
    '}',
    '[a]',
    ',',
    '"',
    "'",
    '\\',
    ' a',
    'a ',
    '\ta',
    'a\t',
    '\n',
    '\n\n',
    '\na',
    'a\n',
    'a\n\n\n',
    'a\n b\n',
    ' a\nb',
    'a \nb',
    'a\r\nb',
    '---',
    '...',
    '--- a',
    '\u0000',
    '\u007f',
    '\u0085',
    '\u2028',
    '\ufeff',
    'é',
    '😀',
    'a\n😀',
    'x'.repeat(2000),
    'a b '.repeat(300),
  ])(
    'writes the text %j so that it is read back as a text, by readers of 1.1 and of 1.2, as a value and as a key',
    async (text) => {
      const value = { list: [text, { [text]: text }], value: text }
      const written = writeYaml(value)
      expect((await readYaml(written)).value).toEqual(value)
      expect(parse(written)).toEqual(value)
    },
  )

  test('can be read back, whatever the value', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ stringUnit: 'binary' }), async (value) => {
        const plain = parseJson(JSON.stringify(value))
        expect((await readYaml(writeYaml(plain))).value).toEqual(plain)
      }),
    )
  })

  test('leaves out what is undefined', () => {
    expect(writeYaml({ a: undefined, b: 1, c: { d: undefined } })).toBe('b: 1\nc: {}\n')
  })
})
