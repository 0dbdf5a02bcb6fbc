a.o: /s/src/a.c \
  /s/src/with\ blank.h \
  $$x.h
b.o c.o: b.c

/s/src/a.h:
