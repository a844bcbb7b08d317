/** A Login has a Secret with a password that is drawn once, and a ConfigMap that names the Secret. */
import { defineController, defineKind, setControllerReference } from 'evenkeel'
import { ConfigMap, Secret } from 'evenkeel/kinds/core/v1'
import { z } from 'zod'
import { changes, creates, deletes } from '../steps.ts'

const Login = defineKind({
  group: 'right.dev',
  version: 'v1',
  kind: 'Login',
  spec: z.object({ user: z.string().min(1) }),
  status: z.object({ secret: z.string().optional() }),
})

export const controllers = () => [
  defineController({
    for: Login,
    owns: [ConfigMap, Secret],
    async reconcile(login, { client, random, status }) {
      const { name, namespace = 'default' } = login.metadata
      const place = { name: `${name}-password`, namespace }
      if (!(await client.find(Secret, place))) {
        const password = `pw-${random.uint32()}-${random.uint32()}`
        const secret = { apiVersion: 'v1', kind: 'Secret', metadata: place, stringData: { password } }
        await client.create(setControllerReference(login, secret))
      }
      const data = { user: login.spec.user, passwordFrom: place.name }
      const settings = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `${name}-login`, namespace }, data }
      await client.apply(setControllerReference(login, settings), { force: true })
      status.set({ secret: place.name })
    },
  }),
]

export const scenario = {
  name: 'login',
  steps: [
    creates(Login, 'shop', { spec: { user: 'ann' } }),
    changes(Login, 'shop', { spec: { user: 'bob' } }),
    deletes(Login, 'shop'),
  ],
}
