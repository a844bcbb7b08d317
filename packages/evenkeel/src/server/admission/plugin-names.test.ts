import { expect, test } from 'vitest'
import { TestServer } from '../client.fixture.ts'
import { admissionPluginNames, selectPlugins, type AdmissionPluginName } from './plugin-names.ts'

test('selectPlugins leaves out those that need controllers, and keeps the order', () => {
  const off = ['ServiceAccount', 'StorageObjectInUseProtection', 'OwnerReferencesPermissionEnforcement']
  expect(selectPlugins({})).toEqual(admissionPluginNames.filter((name) => !off.includes(name)))
  expect(selectPlugins({ enablePlugins: ['ServiceAccount'], disablePlugins: ['LimitRanger'] }).slice(0, 2)).toEqual([
    'ServiceAccount',
    'TaintNodesByCondition',
  ])
})

test('selectPlugins refuses unknown plugins, and one that is enabled and disabled', () => {
  const unknown = 'AlwaysPullImages' as AdmissionPluginName
  expect(() => selectPlugins({ enablePlugins: [unknown] })).toThrow(
    'admission.enablePlugins: there is no plugin "AlwaysPullImages": choose from LimitRanger, ServiceAccount',
  )
  expect(() => selectPlugins({ enablePlugins: ['PodSecurity'], disablePlugins: ['PodSecurity'] })).toThrow(
    'the plugin PodSecurity is both enabled and disabled',
  )
})

test('a disabled plugin does nothing', async () => {
  const plain = await TestServer.start({ admission: { disablePlugins: ['Priority', 'DefaultTolerationSeconds'] } })
  const body = { metadata: { name: 'a' }, spec: { containers: [{ name: 'c', image: 'i' }] } }
  const { json } = await plain.ask('POST', '/api/v1/namespaces/default/pods', { body })
  expect(Object.keys(json['spec'] ?? {})).not.toEqual(expect.arrayContaining(['priority']))
  expect(Object.keys(json['spec'] ?? {})).not.toEqual(expect.arrayContaining(['tolerations']))
  await plain.server.stop()
})
