/** Two levels: a Cert asks for a signature with a SigningRequest, whose own controller signs it. */
import { defineController, defineKind } from 'evenkeel'
import { Secret } from 'evenkeel/kinds/core/v1'
import { z } from 'zod'
import { CertificateAuthority } from '../services.ts'
import { changes, creates, deletes, type Process } from '../steps.ts'

const SigningRequest = defineKind({
  group: 'right.dev',
  version: 'v1',
  kind: 'SigningRequest',
  spec: z.object({ host: z.string().min(1) }),
  status: z.object({ certificate: z.string().optional(), host: z.string().optional() }),
})

const Cert = defineKind({
  group: 'right.dev',
  version: 'v1',
  kind: 'Cert',
  spec: z.object({ host: z.string().min(1) }),
  status: z.object({ host: z.string().optional() }),
  reports: ['children'],
})

export const controllers = ({ external: { authority } }: Process<{ authority: CertificateAuthority }>) => [
  defineController({
    for: SigningRequest,
    async reconcile(request, { status }) {
      const { uid } = request.metadata
      const { host } = request.spec
      const { serial } = await authority.sign(`${uid}-${host}`, host)
      status.set({ certificate: `certificate ${serial} of ${host}`, host })
      status.condition('Ready', true)
    },
  }),
  defineController({
    for: Cert,
    owns: [SigningRequest, Secret],
    async reconcile(cert, { children, status }) {
      const { host } = cert.spec
      const request = await children.apply(SigningRequest, { spec: { host } })
      children.waitFor(request, (one) => one.status?.host === host)
      await children.apply(Secret, { stringData: { 'tls.crt': request.status?.certificate ?? '' } })
      status.set({ host })
      status.condition('Ready', true)
    },
  }),
]

export const scenario = {
  name: 'certificate requests',
  external: () => ({ authority: new CertificateAuthority() }),
  services: { authority: { contents: () => ({}) } },
  steps: [
    creates(Cert, 'web', { spec: { host: 'a.example.com' } }),
    changes(Cert, 'web', { spec: { host: 'b.example.com' } }),
    deletes(Cert, 'web'),
  ],
}
