#!/bin/sh
# Makes an authority, and certificates that it issues to the servers of docker-compose.tls.yml and to the platform. What
# is there stays; a certificate that ends within a month is issued again.
# certificates.sh FOLDER_OF_THE_AUTHORITY FOLDER_OF_THE_CERTIFICATES
set -eu
authority=$1
certificates=$2
umask 077

if [ ! -f "$authority/key.pem" ]; then
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3650 -subj '/CN=Plinth' \
    -addext 'keyUsage=critical,keyCertSign,cRLSign' -keyout "$authority/key.pem" -out "$authority/certificate.pem"
fi

# issue NAME USER USAGE: of whom the key is, and as what the certificate may be used
issue() {
  file=$certificates/$1
  if [ -f "$file.pem" ] && openssl x509 -in "$file.pem" -noout -checkend 2592000 > /dev/null; then return; fi
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$1" -keyout "$file-key.pem" -out "$file.csr"
  printf 'subjectAltName=DNS:%s\nextendedKeyUsage=%s\n' "$1" "$3" > "$file.extensions"
  openssl x509 -req -in "$file.csr" -CA "$authority/certificate.pem" -CAkey "$authority/key.pem" -CAcreateserial \
    -days 365 -extfile "$file.extensions" -out "$file.pem"
  rm "$file.csr" "$file.extensions"
  chmod 644 "$file.pem"
  chown "$2" "$file-key.pem"
}

# The users are those that the images run as.
issue postgres 70 serverAuth
issue redis 999 serverAuth
issue nats 0 serverAuth
issue temporal-tls 0 serverAuth
issue platform 10001 clientAuth

cp "$authority/certificate.pem" "$certificates/authority.pem"
chmod 755 "$certificates"
chmod 644 "$certificates/authority.pem"
