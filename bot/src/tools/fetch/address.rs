//! Which addresses may be connected to.
//!
//! A host name proves nothing: its owner may point it at this machine or its network, and elsewhere a moment later. So the
//! check is in the resolver that the connection uses ([`CheckedDns`]).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

/// Whether an address may be connected to.
pub type AddressRule = fn(IpAddr) -> bool;

/// How names are resolved, and which addresses may be used.
#[derive(Clone)]
pub struct Network {
    pub dns: Arc<dyn Resolve>,
    pub rule: AddressRule,
}

impl Network {
    /// The system's resolver, and public addresses only.
    pub fn public() -> Network {
        Network { dns: Arc::new(SystemDns), rule: is_public }
    }
}

struct SystemDns;

impl Resolve for SystemDns {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let addresses: Vec<SocketAddr> = tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            Ok(Box::new(addresses.into_iter()) as Addrs)
        })
    }
}

/// Resolves a name only if all its addresses may be connected to.
pub struct CheckedDns(pub Network);

impl Resolve for CheckedDns {
    fn resolve(&self, name: Name) -> Resolving {
        let (resolving, rule) = (self.0.dns.resolve(name), self.0.rule);
        Box::pin(async move {
            let addresses: Vec<SocketAddr> = resolving.await?.collect();
            if addresses.iter().all(|address| rule(address.ip())) {
                Ok(Box::new(addresses.into_iter()) as Addrs)
            } else {
                Err(NotPublic.into())
            }
        })
    }
}

/// A name resolves to an address that may not be connected to. The address itself is not revealed.
#[derive(Debug, thiserror::Error)]
#[error("this host has an address that is not public")]
pub struct NotPublic;

/// Whether an address belongs to the public internet: not to this machine, its network, or a special-purpose range.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let is_special = match (a, b, c) {
        // This network, private, loopback.
        (0 | 10 | 127, _, _) | (172, 16..=31, _) | (192, 168, _) => true,
        // Carrier NAT, link-local, benchmarking.
        (100, 64..=127, _) | (169, 254, _) | (198, 18..=19, _) => true,
        // Protocol assignments, documentation, 6to4 relays.
        (192, 0, 0 | 2) | (198, 51, 100) | (203, 0, 113) | (192, 88, 99) => true,
        // Multicast, reserved, broadcast.
        (224..=255, _, _) => true,
        _ => false,
    };
    !is_special
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    if let Some(embedded) = embedded_v4(address) {
        return is_public_v4(embedded);
    }
    let [a, b, ..] = address.segments();
    let is_special = match (a, b) {
        // Teredo, benchmarking, ORCHID and other protocol assignments.
        (0x2001, 0..=0x01ff) => true,
        // Documentation, 6to4.
        (0x2001, 0x0db8) | (0x3fff, 0..=0x0fff) | (0x2002, _) => true,
        _ => false,
    };
    // All other public addresses begin with 2 or 3.
    (0x2000..=0x3fff).contains(&a) && !is_special
}

/// The IPv4 address that is really connected to: IPv4-mapped, or through NAT64.
fn embedded_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    match address.segments() {
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            Some(Ipv4Addr::from((u32::from(high) << 16) | u32::from(low)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_the_public_internet_are_public() {
        let public = "1.1.1.1 8.8.8.8 93.184.216.34 172.15.0.1 172.32.0.1 100.63.255.255 100.128.0.0 169.253.0.1 192.0.1.1 \
             198.17.0.1 198.20.0.1 223.255.255.255 2606:4700::1111 2a00:1450:4001::1 2001:200::1 2001:4860:4860::8888 \
             ::ffff:8.8.8.8 64:ff9b::8.8.8.8";
        let special = "0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.127.255.255 127.0.0.1 127.255.255.254 169.254.169.254 \
             172.16.0.1 172.31.255.255 192.0.0.1 192.0.0.170 192.0.2.1 192.88.99.1 192.168.0.1 198.18.0.1 198.19.255.255 \
             198.51.100.1 203.0.113.1 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255 \
             :: ::1 ::127.0.0.1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:169.254.169.254 ::ffff:0:127.0.0.1 \
             64:ff9b::10.0.0.1 64:ff9b::7f00:1 64:ff9b:1::8.8.8.8 100::1 2001::1 2001:0:4136:e378:8000:63bf:3fff:fdd2 2001:2::1 \
             2001:10::1 2001:20::1 2001:db8::1 2002:7f00:1::1 2002:808:808::1 3fff::1 3fff:fff::1 5f00::1 fc00::1 fd12:3456::1 fe80::1 \
             fec0::1 ff02::1 ff0e::1 4000::1";
        for text in public.split_whitespace() {
            assert!(is_public(text.parse().unwrap()), "{text}");
        }
        for text in special.split_whitespace() {
            assert!(!is_public(text.parse().unwrap()), "{text}");
        }
    }
}
