/** A Certificate is signed by an authority that counts its certificates, and kept in a Secret. */
import { defineController, defineKind } from 'evenkeel'
import { Secret } from 'evenkeel/kinds/core/v1'
import { z } from 'zod'
import { CertificateAuthority } from '../services.ts'
import { changes, creates, deletes, type Process } from '../steps.ts'

const Certificate = defineKind({
  group: 'right.dev',
  version: 'v1',
  kind: 'Certificate',
  spec: z.object({ host: z.string().min(1) }),
  status: z.object({ serial: z.number().int().optional(), request: z.string().optional() }),
})

export const controllers = ({ external: { authority } }: Process<{ authority: CertificateAuthority }>) => [
  defineController({
    for: Certificate,
    owns: [Secret],
    async reconcile(certificate, { children, client, status }) {
      const { uid } = certificate.metadata
      const { host } = certificate.spec
      const request = `${uid}-${host}`
      const former = certificate.status?.request
      if (former === undefined) await client.patchStatus(certificate, { request })
      const { serial } = await authority.sign(request, host)
      await children.apply(Secret, {
        stringData: { 'tls.crt': `certificate ${serial} of ${host}` },
      })
      if (former !== undefined && former !== request) await authority.revoke(former)
      status.set({ serial, request })
      status.condition('Ready', true)
    },
    async cleanup(certificate) {
      const { request } = certificate.status ?? {}
      if (request !== undefined) await authority.revoke(request)
      await authority.revoke(`${certificate.metadata.uid}-${certificate.spec.host}`)
    },
  }),
]

export const scenario = {
  name: 'issuer',
  external: () => ({ authority: new CertificateAuthority() }),
  steps: [
    creates(Certificate, 'web', { spec: { host: 'a.example.com' } }),
    changes(Certificate, 'web', { spec: { host: 'b.example.com' } }),
    deletes(Certificate, 'web'),
  ],
}
