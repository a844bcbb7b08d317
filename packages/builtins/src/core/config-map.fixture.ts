/**
 * Writes of ConfigMap objects and the complaints of Kubernetes 1.36 about them.
 */
import type { Case } from '../writes.fixture.ts'

const newConfigMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'ns' } }
const storedConfigMap = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', namespace: 'ns', resourceVersion: '1' },
}

export const cases: readonly Case[] = [
  { name: 'ConfigMap ok', object: { ...newConfigMap, data: { a: 'b' } }, errors: [] },
  { name: 'ConfigMap none', object: newConfigMap, errors: [] },
  {
    name: 'ConfigMap keys',
    object: {
      ...newConfigMap,
      data: {
        '': 'x',
        '.': '1',
        '..': '2',
        '..a': '3',
        'a/b': '4',
        kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk:
          '5',
      },
    },
    errors: [
      'data[..]: Invalid value: "..": must not be \'..\'',
      'data[..a]: Invalid value: "..a": must not start with \'..\'',
      'data[.]: Invalid value: ".": must not be \'.\'',
      "data[]: Invalid value: \"\": a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or",
      "data[a/b]: Invalid value: \"a/b\": a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME",
      'data[kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk',
    ],
  },
  {
    name: 'ConfigMap dup',
    object: { ...newConfigMap, data: { a: 'x' }, binaryData: { a: 'eA==', 'b c': 'eA==' } },
    errors: [
      "binaryData[b c]: Invalid value: \"b c\": a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KE",
      'data[a]: Invalid value: "a": duplicate of key present in binaryData',
    ],
  },
  {
    name: 'ConfigMap update imm',
    object: { ...storedConfigMap, data: { a: '2' }, immutable: true },
    old: { ...storedConfigMap, data: { a: '1' }, immutable: true },
    errors: ['data: Forbidden: field is immutable when `immutable` is set'],
  },
  {
    name: 'ConfigMap update imm off',
    object: { ...storedConfigMap, data: { a: '1' } },
    old: { ...storedConfigMap, data: { a: '1' }, immutable: true },
    errors: ['immutable: Forbidden: field is immutable when `immutable` is set'],
  },
  {
    name: 'ConfigMap update imm bin',
    object: { ...storedConfigMap, data: { a: '1' }, binaryData: { b: 'eA==' }, immutable: true },
    old: { ...storedConfigMap, data: { a: '1' }, immutable: true },
    errors: ['binaryData: Forbidden: field is immutable when `immutable` is set'],
  },
  {
    name: 'ConfigMap update imm label',
    object: {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'a', namespace: 'ns', resourceVersion: '1', labels: { a: 'b' } },
      data: { a: '1' },
      immutable: true,
    },
    old: { ...storedConfigMap, data: { a: '1' }, immutable: true },
    errors: [],
  },
]
