# The command for pipelines without Node: the executable file that `npm run build:binary` makes, and k6. See docs/binary.md.
FROM grafana/k6:2.2.0 AS k6

# The C library and what else Node's executable needs; no shell, no package manager.
FROM gcr.io/distroless/cc-debian12:nonroot
ARG BINARY=binary/conformance-linux-x64
COPY --from=k6 /usr/bin/k6 /usr/local/bin/k6
COPY ${BINARY} /usr/local/bin/conformance
COPY LICENSE NOTICE binary/THIRD-PARTY-LICENCES.txt /usr/share/doc/conformance/
ENV PATH=/usr/local/bin
WORKDIR /work
USER nonroot
ENTRYPOINT ["/usr/local/bin/conformance"]
CMD ["--help"]
