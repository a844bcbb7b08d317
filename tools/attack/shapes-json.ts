/**
 * Shapes of JSON bodies: syntax, metadata and fields of ConfigMaps. Each is a dry run of a creation.
 */
import { randomInt } from 'evenkeel/unstable/base'
import { coreKinds, createConfigMap, dict, list, nested, type AttackRequest, type DocumentShape } from './shape.ts'

const configMaps = `${coreKinds}/configmaps?dryRun=All`

function post(body: string, query = ''): AttackRequest {
  return { method: 'POST', path: `${configMaps}${query}`, body }
}

/** A ConfigMap whose text has `inside` at the place of its data. */
function withData(inside: string, query = ''): AttackRequest {
  return post(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":${inside}}`, query)
}

function owners(n: number, make: (index: number) => object): AttackRequest {
  return createConfigMap({ ownerReferences: list(n, make) })
}

const owner = (index: number): object => ({ apiVersion: 'v1', kind: 'Pod', name: 'a', uid: `${index}` })

function shape(name: string, n: number, make: DocumentShape['make']): DocumentShape {
  return { name, entry: 'json', n, make }
}

const syntax: readonly DocumentShape[] = [
  shape('brackets', 1_400_000, (n) => post('['.repeat(n))),
  shape('braces', 500_000, (n) => post('{"a":'.repeat(n))),
  shape('empty arrays', 900_000, (n) => withData(`[${list(n, () => '[]').join(',')}]`)),
  shape('empty objects', 900_000, (n) => withData(`[${list(n, () => '{}').join(',')}]`)),
  shape('escaped letters', 450_000, (n) => withData(`{"a":"${'\\u0041'.repeat(n)}"}`)),
  shape('lone surrogates', 450_000, (n) => withData(`{"a":"${'\\ud800'.repeat(n)}"}`)),
  shape('duplicate keys', 200_000, (n) =>
    withData(`{${list(n, () => '"a":"b"').join(',')}}`, '&fieldValidation=Strict'),
  ),
  shape('duplicate nested keys', 60_000, (n) =>
    withData(`{"a":{${list(n, (i) => `"k${i % 100}":{"b":1,"b":2}`).join(',')}}}`, '&fieldValidation=Strict'),
  ),
  shape('white space', 2_500_000, (n) => post(`${' '.repeat(n)}{}`)),
  shape('digits of one number', 2_000_000, (n) => withData(`{"a":${'1'.repeat(n)}}`)),
  shape('exponents', 200_000, (n, random) => withData(`[${list(n, () => `1e${randomInt(random, 400)}`).join(',')}]`)),
  shape('unicode keys', 100_000, (n) => withData(JSON.stringify(dict(n, (i) => [`\u{1f600}${i}`, 'b'])))),
  shape('numeric keys', 200_000, (n) => withData(JSON.stringify(dict(n, (i) => [`${i * 7}`, 'b'])))),
  shape('keys of prototypes', 100_000, (n) =>
    withData(`{${list(n, () => '"__proto__":{"constructor":1}').join(',')}}`),
  ),
  shape('backslash at the end', 1_400_000, (n) => withData(`{"a":"${'\\\\'.repeat(n)}`)),
  shape('null bytes', 2_000_000, (n) => post('\0'.repeat(n))),
  shape('deep lists in many fields', 4_000, (n) =>
    withData(`{${list(n, (i) => `"k${i}":${JSON.stringify(nested(90, 1))}`).join(',')}}`),
  ),
]

const metadata: readonly DocumentShape[] = [
  shape('owner references', 20_000, (n) => owners(n, owner)),
  shape('owner references that are controllers', 20_000, (n) => owners(n, (i) => ({ ...owner(i), controller: true }))),
  shape('owner references without fields', 20_000, (n) => owners(n, () => ({}))),
  shape('owner references that repeat', 30_000, (n) => owners(n, () => owner(1))),
  shape('bad labels', 100_000, (n) => createConfigMap({ labels: dict(n, (i) => [`!${i}`, '!']) })),
  shape('labels', 100_000, (n) => createConfigMap({ labels: dict(n, (i) => [`a${i}`, 'b']) })),
  shape('label with a long key', 2_500_000, (n) => createConfigMap({ labels: { [`${'a.'.repeat(n / 2)}/a`]: 'b' } })),
  shape('label with a long value', 2_500_000, (n) => createConfigMap({ labels: { a: `${'a-'.repeat(n / 2)}` } })),
  shape('long name', 2_500_000, (n) => createConfigMap({ name: 'a.'.repeat(n / 2) })),
  shape('long generated name', 2_500_000, (n) =>
    createConfigMap({ name: undefined, generateName: 'a-'.repeat(n / 2) }),
  ),
  shape('annotations', 100_000, (n) => createConfigMap({ annotations: dict(n, (i) => [`a${i}`, 'b']) })),
  shape('bad annotations', 100_000, (n) => createConfigMap({ annotations: dict(n, (i) => [`!${i}`, 'b']) })),
  shape('finalizers', 100_000, (n) => createConfigMap({ finalizers: list(n, (i) => `a.b/${i}`) })),
  shape('bad finalizers', 100_000, (n) => createConfigMap({ finalizers: list(n, (i) => `!${i}`) })),
  shape('managed fields', 20_000, (n) => createConfigMap({ managedFields: list(n, manager) })),
  shape('managed fields of one manager', 20_000, (n) =>
    createConfigMap({ managedFields: list(n, (i) => ({ ...manager(i), manager: 'm' })) }),
  ),
  shape('one large field set', 80_000, (n) =>
    createConfigMap({ managedFields: [{ ...manager(0), fieldsV1: { 'f:data': dict(n, (i) => [`f:a${i}`, {}]) } }] }),
  ),
  shape('field set of list keys', 40_000, (n) =>
    createConfigMap({
      managedFields: [{ ...manager(0), fieldsV1: { 'f:data': dict(n, (i) => [`k:{"name":"a${i}"}`, { '.': {} }]) } }],
    }),
  ),
]

function manager(index: number): object {
  return {
    manager: `m${index}`,
    operation: 'Update',
    apiVersion: 'v1',
    time: '2020-01-01T00:00:00Z',
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:data': { [`f:a${index}`]: {} } },
  }
}

const fields: readonly DocumentShape[] = [
  shape('data', 100_000, (n) => createConfigMap({}, { data: dict(n, (i) => [`a${i}`, 'b']) })),
  shape('bad data', 100_000, (n) => createConfigMap({}, { data: dict(n, (i) => [`!${i}`, 'b']) })),
  shape('data of a wrong type', 180_000, (n) => createConfigMap({}, { data: dict(n, (i) => [`a${i}`, i]) })),
  shape('bad base64', 100_000, (n) => createConfigMap({}, { binaryData: dict(n, (i) => [`a${i}`, '!']) })),
  shape('long base64', 2_000_000, (n) => createConfigMap({}, { binaryData: { a: 'AAAA'.repeat(n / 4) } })),
  shape('keys in data and in binaryData', 60_000, (n) =>
    createConfigMap({}, { data: dict(n, (i) => [`a${i}`, '']), binaryData: dict(n, (i) => [`a${i}`, '']) }),
  ),
  shape('unknown fields, strict', 200_000, (n) =>
    createConfigMap(
      {},
      dict(n, (i) => [`u${i}`, 1]),
      '&fieldValidation=Strict',
    ),
  ),
  shape('unknown fields, warnings', 200_000, (n) =>
    createConfigMap(
      {},
      dict(n, (i) => [`u${i}`, 1]),
      '&fieldValidation=Warn',
    ),
  ),
  shape('unknown fields, long names', 20_000, (n) =>
    createConfigMap(
      {},
      dict(n, (i) => [`${i}${'u'.repeat(100)}`, 1]),
      '&fieldValidation=Warn',
    ),
  ),
]

export const jsonShapes: readonly DocumentShape[] = [...syntax, ...metadata, ...fields]
