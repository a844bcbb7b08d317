/**
 * Shapes of CRDs and of custom objects: defaults that multiply, patterns, formats, list types, alternatives, CEL rules.
 *
 * The CRDs of the objects are in fixtures.ts. Only administrators write CRDs, so those shapes are sent by `admin`.
 */
import { crd, formats, kindOf } from './fixtures.ts'
import { dict, list, nested, type AttackRequest, type DocumentShape } from './shape.ts'

function shape(name: string, n: number, make: DocumentShape['make']): DocumentShape {
  return { name, entry: 'schema', n, make }
}

/** A dry run of the creation of a custom object. */
function custom(plural: string, spec: unknown, query = ''): AttackRequest {
  return {
    method: 'POST',
    path: `/apis/x.dev/v1/namespaces/default/${plural}?dryRun=All${query}`,
    body: JSON.stringify({ apiVersion: 'x.dev/v1', kind: kindOf(plural), metadata: { name: 'x' }, spec }),
  }
}

const objects: readonly DocumentShape[] = [
  shape('defaults in a list', 40_000, (n) => custom('defs', { l: list(n, () => ({})) })),
  shape('defaults in a long list', 300_000, (n) => custom('defs', { l: list(n, () => ({})) })),
  shape('defaults in a map', 100_000, (n) => custom('defs', { m: dict(n, (i) => [`k${i}`, {}]) })),
  shape('pattern on a long text', 80_000, (n) => custom('pats', { p: 'a'.repeat(n) })),
  shape('pattern on many texts', 40_000, (n) => custom('pats', { q: list(n, () => 'aaaaaaaaaaaaaaaaaaaaaaaab') })),
  shape('set', 100_000, (n) => custom('plains', { set: list(n, (i) => `${i}`) })),
  shape('set that repeats', 100_000, (n) => custom('plains', { set: list(n, () => 'a') })),
  shape('set of objects', 20_000, (n) => custom('plains', { objects: list(n, (i) => ({ a: { b: i } })) })),
  shape('set of objects that repeat', 20_000, (n) => custom('plains', { objects: list(n, () => ({ a: { b: 1 } })) })),
  shape('list map', 60_000, (n) => custom('plains', { map: list(n, (i) => ({ k: `${i}` })) })),
  shape('list map that repeats', 60_000, (n) => custom('plains', { map: list(n, () => ({ k: 'a' })) })),
  shape('list map without keys', 100_000, (n) => custom('plains', { map: list(n, () => ({})) })),
  shape('items of a wrong type', 200_000, (n) => custom('plains', { l: list(n, () => 1) })),
  shape('unknown fields of a custom object', 200_000, (n) =>
    custom(
      'plains',
      dict(n, (i) => [`u${i}`, 1]),
    ),
  ),
  shape('unknown fields of a custom object, strict', 100_000, (n) =>
    custom(
      'plains',
      dict(n, (i) => [`u${i}`, 1]),
      '&fieldValidation=Strict',
    ),
  ),
  shape('map of a custom object', 150_000, (n) => custom('plains', { m: dict(n, (i) => [`u${i}`, 'a']) })),
  shape('map with long keys', 2_000, (n) => custom('plains', { m: dict(n, (i) => [`${i}${'k'.repeat(1000)}`, 1]) })),
  shape('alternatives', 100_000, (n) => custom('alts', { v: 1, ...dict(n, (i) => [`u${i}`, 1]) })),
  shape('rule that is quadratic', 200, (n) => custom('rules', { l: list(n, (i) => n - i) })),
  shape('rule on a long text', 100_000, (n) => custom('rules', { s: 'a'.repeat(n) })),
  shape('rule on many texts', 2_000, (n) => custom('rules', { t: list(n, () => 'aaa') })),
  shape('tree without a schema', 100_000, (n) =>
    custom(
      'trees',
      dict(n, (i) => [`k${i}`, { a: 1 }]),
    ),
  ),
  shape('deep tree without a schema', 2_000, (n) =>
    custom(
      'trees',
      dict(n, (i) => [`k${i}`, nested(80, 1)]),
    ),
  ),
]

/** Texts that begin like the format, repeat a part of it and end wrong. */
const nearlyFormatted: Readonly<Record<(typeof formats)[number], string>> = {
  'date-time': '2020-01-01T00:00:00.0',
  date: '2020-',
  duration: '1h',
  email: 'a.',
  uri: 'http://a/%20',
  hostname: 'a-.',
  ipv4: '1.',
  ipv6: '1:',
  cidr: '1:/',
  mac: '00:',
  uuid: '00000000-',
  byte: 'AAAA',
  isbn: '978-',
  creditcard: '4111 ',
  hexcolor: '#ffffff',
  rgbcolor: 'rgb(1,',
  bsonobjectid: '0f',
}

const formatted: readonly DocumentShape[] = formats.map((format) => {
  const part = nearlyFormatted[format]
  return shape(`format ${format}`, 1_000_000, (n) =>
    custom('forms', { [format.replace('-', '')]: `${part.repeat(Math.ceil(n / part.length))}!` }),
  )
})

/** A dry run of the creation of a CRD. */
function definition(spec: object, more: object = {}): AttackRequest {
  return {
    method: 'POST',
    path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All',
    body: JSON.stringify(crd('news', spec, more)),
    user: 'admin',
  }
}

const text = { type: 'string' }

function properties(n: number, make: (index: number) => object): AttackRequest {
  return definition({ type: 'object', properties: dict(n, (i) => [`p${i}`, make(i)]) })
}

function rules(n: number, rule: (index: number) => string): AttackRequest {
  return definition({
    type: 'object',
    properties: { a: { type: 'integer' } },
    'x-kubernetes-validations': list(n, (i) => ({ rule: rule(i) })),
  })
}

const definitions: readonly DocumentShape[] = [
  shape('crd properties', 20_000, (n) => properties(n, () => text)),
  shape('crd properties with defaults', 10_000, (n) => properties(n, () => ({ type: 'string', default: 'a' }))),
  shape('crd bad properties', 20_000, (n) => properties(n, () => ({ type: 'x', format: 'y' }))),
  shape('crd patterns', 5_000, (n) => properties(n, (i) => ({ type: 'string', pattern: `^(a|b${i}){1,20}$` }))),
  shape('crd one long pattern', 100_000, (n) =>
    properties(1, () => ({ type: 'string', pattern: '(a|b)'.repeat(n / 5) })),
  ),
  shape('crd nested pattern', 20_000, (n) =>
    properties(1, () => ({ type: 'string', pattern: `${'('.repeat(n / 2)}${')'.repeat(n / 2)}` })),
  ),
  shape('crd repeated pattern', 400, (n) => properties(1, () => ({ type: 'string', pattern: `(a{1,${n}}){1,${n}}` }))),
  shape('crd enumeration', 60_000, (n) => properties(1, () => ({ type: 'string', enum: list(n, (i) => `e${i}`) }))),
  shape('crd enumeration that repeats', 60_000, (n) =>
    properties(1, () => ({ type: 'string', enum: list(n, () => 'e') })),
  ),
  shape('crd required', 60_000, (n) => definition({ type: 'object', required: list(n, (i) => `p${i}`) })),
  shape('crd depth', 400, (n) =>
    definition(nested(n, text, (inner) => ({ type: 'object', properties: { a: inner } })) as object),
  ),
  shape('crd alternatives', 16_384, (n) =>
    definition({
      type: 'object',
      properties: { v: { type: 'integer' } },
      ...(nested(Math.log2(n), { properties: { v: { minimum: 1 } } }, (inner) => ({
        anyOf: [inner, inner],
      })) as object),
    }),
  ),
  shape('crd columns', 5_000, (n) =>
    definition(
      { type: 'object' },
      { additionalPrinterColumns: list(n, (i) => ({ name: `c${i}`, type: 'string', jsonPath: '.spec.a' })) },
    ),
  ),
  shape('crd long column path', 500_000, (n) =>
    definition(
      { type: 'object' },
      { additionalPrinterColumns: [{ name: 'c', type: 'string', jsonPath: '.a'.repeat(n / 2) }] },
    ),
  ),
  shape('crd selectable fields', 20_000, (n) =>
    definition({ type: 'object' }, { selectableFields: list(n, () => ({ jsonPath: '.spec.a' })) }),
  ),
  shape('crd rules', 2_000, (n) => rules(n, (i) => `self.a != ${i}`)),
  shape('crd one long rule', 60_000, (n) => rules(1, () => `${'self.a > 0 || '.repeat(n / 14)}true`)),
  shape('crd rule of brackets', 100_000, (n) => rules(1, () => `${'('.repeat(n / 2)}1${')'.repeat(n / 2)} == 1`)),
  shape('crd rule with a long list', 100_000, (n) => rules(1, () => `self.a in [${list(n / 2, () => '1').join(',')}]`)),
  shape('crd rule with nested loops', 6, (n) =>
    rules(1, () => `${list(n, (i) => `[1,2,3].all(x${i}, `).join('')}true${')'.repeat(n)}`),
  ),
  shape('crd rule with a long text', 1_000_000, (n) => rules(1, () => `'${'a'.repeat(n)}' == ''`)),
]

export const schemaShapes: readonly DocumentShape[] = [...objects, ...formatted, ...definitions]
