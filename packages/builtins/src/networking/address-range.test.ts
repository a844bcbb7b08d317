import { expect, test } from 'vitest'
import { AddressRange } from './address-range.ts'

test('AddressRange leaves out the address of the network, and of IPv4 the broadcast address', () => {
  const range = AddressRange.parse('10.0.0.77/24')
  expect([range?.family, range?.last, range?.address(1n), range?.address(254n)]).toEqual([
    'IPv4',
    254n,
    '10.0.0.1',
    '10.0.0.254',
  ])
  expect(['10.0.0.0', '10.0.0.1', '10.0.0.254', '10.0.0.255', '10.0.1.1', '::1'].map((one) => range?.has(one))).toEqual(
    [false, true, true, false, false, false],
  )
})

test.each([
  ['fd00::/108', 1n, 'fd00::1'],
  ['fd00::/108', 0xfffffn, 'fd00::f:ffff'],
  ['2001:db8:0:1::/64', 0x1_0000_0000n, '2001:db8:0:1:0:1::'],
  ['2001:db8:0:0:1::/80', 5n, '2001:db8::1:0:0:5'],
  ['::ffff:1.2.3.0/120', 4n, '::ffff:102:304'],
  ['1:2:3:4:5:6:7:0/112', 8n, '1:2:3:4:5:6:7:8'],
])('AddressRange %s writes its address %s as %s', (cidr, number, address) => {
  const range = AddressRange.parse(cidr)
  expect(range?.address(number)).toBe(address)
  expect(range?.has(address)).toBe(true)
})

test.each(['10.0.0.0', '10.0.0.0/33', '10.0.0.0/32', '10.0.0.0/31', 'fd00::/129', 'x/24', '10.0.0.0/-1'])(
  'AddressRange refuses %s',
  (cidr) => {
    expect(AddressRange.parse(cidr)).toBeUndefined()
  },
)
