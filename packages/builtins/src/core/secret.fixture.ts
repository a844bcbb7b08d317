/**
 * Writes of Secret objects and the complaints of Kubernetes 1.36 about them.
 */
import type { Case } from '../writes.fixture.ts'

const newSecret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a', namespace: 'ns' } }
const storedSecret = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'a', namespace: 'ns', resourceVersion: '1' },
}

export const cases: readonly Case[] = [
  {
    name: 'Secret string',
    object: { ...newSecret, stringData: { a: 'hé', b: '' }, data: { a: 'eA==', c: 'eQ==' } },
    errors: [],
  },
  {
    name: 'Secret key',
    object: { ...newSecret, data: { 'a b': '' } },
    errors: [
      "data[a b]: Invalid value: \"a b\": a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME",
    ],
  },
  {
    name: 'Secret kubernetes.io/service-account-token',
    object: { ...newSecret, type: 'kubernetes.io/service-account-token' },
    errors: ['metadata.annotations[kubernetes.io/service-account.name]: Required value'],
  },
  {
    name: 'Secret kubernetes.io/dockercfg',
    object: { ...newSecret, type: 'kubernetes.io/dockercfg' },
    errors: ['data[.dockercfg]: Required value'],
  },
  {
    name: 'Secret kubernetes.io/dockerconfigjson',
    object: { ...newSecret, type: 'kubernetes.io/dockerconfigjson' },
    errors: ['data[.dockerconfigjson]: Required value'],
  },
  {
    name: 'Secret kubernetes.io/basic-auth',
    object: { ...newSecret, type: 'kubernetes.io/basic-auth' },
    errors: ['data[password]: Required value', 'data[username]: Required value'],
  },
  {
    name: 'Secret kubernetes.io/ssh-auth',
    object: { ...newSecret, type: 'kubernetes.io/ssh-auth' },
    errors: ['data[ssh-privatekey]: Required value'],
  },
  {
    name: 'Secret kubernetes.io/tls',
    object: { ...newSecret, type: 'kubernetes.io/tls' },
    errors: ['data[tls.crt]: Required value', 'data[tls.key]: Required value'],
  },
  { name: 'Secret custom/type', object: { ...newSecret, type: 'custom/type' }, errors: [] },
  { name: 'Secret Opaque', object: { ...newSecret, type: 'Opaque' }, errors: [] },
  {
    name: 'Secret json ok',
    object: { ...newSecret, type: 'kubernetes.io/dockerconfigjson', stringData: { '.dockerconfigjson': '{}' } },
    errors: [],
  },
  {
    name: 'Secret json null',
    object: { ...newSecret, type: 'kubernetes.io/dockerconfigjson', stringData: { '.dockerconfigjson': 'null' } },
    errors: [],
  },
  {
    name: 'Secret json array',
    object: { ...newSecret, type: 'kubernetes.io/dockerconfigjson', stringData: { '.dockerconfigjson': '[]' } },
    errors: [
      'data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": json: cannot unmarshal array into Go value of type map[string]interfac',
    ],
  },
  {
    name: 'Secret json num',
    object: { ...newSecret, type: 'kubernetes.io/dockercfg', stringData: { '.dockercfg': '1' } },
    errors: [
      'data[.dockercfg]: Invalid value: "<secret contents redacted>": json: cannot unmarshal number into Go value of type map[string]interface {}',
    ],
  },
  {
    name: 'Secret json empty',
    object: { ...newSecret, type: 'kubernetes.io/dockercfg', stringData: { '.dockercfg': '' } },
    errors: ['data[.dockercfg]: Invalid value: "<secret contents redacted>": unexpected end of JSON input'],
  },
  {
    name: 'Secret basic',
    object: { ...newSecret, type: 'kubernetes.io/basic-auth', stringData: { password: '' } },
    errors: [],
  },
  {
    name: 'Secret ssh empty',
    object: { ...newSecret, type: 'kubernetes.io/ssh-auth', stringData: { 'ssh-privatekey': '' } },
    errors: ['data[ssh-privatekey]: Required value'],
  },
  {
    name: 'Secret sa',
    object: {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'a', namespace: 'ns', annotations: { 'kubernetes.io/service-account.name': 'x' } },
      type: 'kubernetes.io/service-account-token',
    },
    errors: [],
  },
  {
    name: 'Secret update type change',
    object: { ...storedSecret, type: 'b' },
    old: { ...storedSecret, type: 'a' },
    errors: ['type: Invalid value: "b": field is immutable'],
  },
  {
    name: 'Secret update type same default',
    object: storedSecret,
    old: { ...storedSecret, type: 'Opaque' },
    errors: [],
  },
  {
    name: 'Secret update imm',
    object: { ...storedSecret, immutable: true, stringData: { a: '2' } },
    old: { ...storedSecret, immutable: true, stringData: { a: '1' } },
    errors: ['data: Forbidden: field is immutable when `immutable` is set'],
  },
]
